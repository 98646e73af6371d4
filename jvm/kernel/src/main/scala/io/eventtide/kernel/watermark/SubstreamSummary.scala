package io.eventtide.kernel.watermark

import scala.collection.mutable

/** Totals over all substreams, and reports of the most relevant ones.
  *
  *   - '''Units:''' the unit of event times.
  *   - '''Edges:''' with more than `most` substreams, `listed` has `most` of them: active
  *     substreams before idle substreams, lowest watermark first. If the substream with the highest
  *     event time is not among them, it replaces the last one.
  *
  * @param count number of substreams
  * @param idle number of idle substreams
  * @param spread distance from the lowest `top` of the active substreams to the highest `top` of
  *   all; zero if none is active; None before the first row, or while an active substream has no
  *   row
  * @param listed reports of all substreams in their order, or of `most` of them
  */
final case class SubstreamSummary(
    count: Int,
    idle: Int,
    spread: Option[Long],
    listed: Seq[SubstreamReport]
)

private[watermark] object SubstreamSummary {

  /** Summarizes all substreams except `hidden`, and lists at most `most` of them.
    *
    * @param named
    *   a part of the names of those that are listed: the first ones
    */
  def of(
      table: SubstreamTable,
      timeout: Option[Long],
      hidden: Option[String],
      most: Int,
      named: Option[String]
  ): SubstreamSummary = {
    val all = new Counted(most)
    val isHidden = hidden.flatMap(table.indexOf).getOrElse(-1)
    var i = 0
    while (i < table.size) {
      if (i != isHidden) all.add(table(i))
      i += 1
    }
    def shown = table.iterator.filterNot(one => hidden.contains(one.name))
    val listed =
      if (named.isDefined) shown.filter(one => named.forall(one.name.contains)).take(most).toSeq
      else if (all.count > most) all.furthestAndLeader
      else shown.toSeq
    SubstreamSummary(all.count, all.idle, all.spread, listed.map(SubstreamReport.of(_, timeout)))
  }

  // The highest element is dropped first: an idle substream, or one ahead of the others. Runs for
  // each substream, so it allocates nothing.
  private val byNeed: Ordering[Substream] = (a, b) =>
    if (a.idle == b.idle) java.lang.Long.compare(watermarkOf(a), watermarkOf(b))
    else if (a.idle) 1
    else -1

  private def watermarkOf(one: Substream): Long = if (one.known) one.watermark else Long.MinValue

  private final class Counted(most: Int) {
    private val furthest = mutable.PriorityQueue.empty[Substream](byNeed)
    private var leader: Substream = _ // null while no substream has a row
    private var lowestTop = Long.MaxValue // of the active substreams
    private var isOneUnseen = false
    var count = 0
    var idle = 0

    def add(one: Substream): Unit = {
      count += 1
      if (one.idle) idle += 1
      else if (one.rows == 0) isOneUnseen = true
      else lowestTop = Math.min(lowestTop, one.top)
      if (one.rows > 0 && (leader == null || leader.top < one.top)) leader = one
      if (furthest.size < most) furthest += one
      else if (byNeed.lt(one, furthest.head)) {
        furthest.dequeue(): Unit
        furthest += one
      }
    }

    def spread: Option[Long] =
      if (isOneUnseen) None
      else Option(leader).map(first => if (idle == count) 0L else first.top - lowestTop)

    def furthestAndLeader: Seq[Substream] = {
      val lowest = furthest.dequeueAll.reverse
      if (leader == null || lowest.contains(leader)) lowest else lowest.init :+ leader
    }
  }
}
