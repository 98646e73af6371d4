package io.eventtide.kernel.disorder

/** The rows of a batch by their disorder, and the number of those that were late. */
final case class BatchDisorder(rows: DisorderHistogram, late: Long)

object BatchDisorder {

  /** A batch without rows. */
  val None: BatchDisorder = BatchDisorder(new DisorderHistogram, late = 0)
}
