package io.eventtide.spark.spi

import scala.collection.immutable.SortedMap

/** What there is of late rows after a batch. The ledger and the index both say it.
  *
  * @param last
  *   the last batch of which the index has an entry; None if there is none
  * @param rows
  *   by reason, since the checkpoint began
  */
private[spark] final case class LateTotals(last: Option[Long], rows: SortedMap[String, Long]) {

  /** For people. */
  def text: String = last.fold("no late rows") { batch =>
    val each = rows.map { case (reason, n) => s"$n $reason" }
    s"late rows up to batch $batch (${if (each.isEmpty) "none" else each.mkString(", ")})"
  }
}

private[spark] object LateTotals {
  val None: LateTotals = LateTotals(scala.None, SortedMap.empty)
}
