package io.eventtide.spark.spi

import scala.collection.immutable.SortedMap

/** The totals of late rows after a batch. Ledger and index both store them.
  *
  * @param last
  *   the last batch that has an entry in the index; None if there is none
  * @param rows
  *   the row counts by reason since the checkpoint began
  */
private[spark] final case class LateTotals(last: Option[Long], rows: SortedMap[String, Long]) {

  /** The totals as text for messages. */
  def text: String = last.fold("no late rows") { batch =>
    val each = rows.map { case (reason, n) => s"$n $reason" }
    s"late rows up to batch $batch (${if (each.isEmpty) "none" else each.mkString(", ")})"
  }
}

private[spark] object LateTotals {
  val None: LateTotals = LateTotals(scala.None, SortedMap.empty)
}
