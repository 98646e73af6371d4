package io.eventtide.kernel.disorder

/** The rows of a batch by their disorder, and the number of those that were late. */
final case class BatchDisorder(rows: DisorderHistogram, late: Long)

object BatchDisorder {

  /** The rows of a batch whose tasks have left out the rows in order.
    *
    * @param rows all rows
    */
  def of(parts: Iterable[DisorderHistogram], rows: Long, late: Long): BatchDisorder = {
    val all = DisorderHistogram.sum(parts)
    all.addInOrder(rows - all.rows)
    BatchDisorder(all, late)
  }

  /** A batch without rows. */
  val None: BatchDisorder = BatchDisorder(new DisorderHistogram, late = 0)
}
