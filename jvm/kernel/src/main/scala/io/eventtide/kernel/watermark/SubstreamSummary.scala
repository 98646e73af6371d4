package io.eventtide.kernel.watermark

import scala.collection.mutable

/** All substreams in a few numbers, and those of them that people look at.
  *
  *   - '''Units:''' those of event times.
  *   - '''Edges:''' of more substreams than were asked for those are `listed` that count and have the
  *     lowest watermarks, the lowest first, and then the one with the highest event time.
  *
  * @param count how many there are
  * @param idle how many of them are left out
  * @param spread how far the highest event time of the last that counts is behind the highest of all;
  *   zero when none counts, none while one that counts has not been seen
  * @param listed all in their order, or as many as were asked for
  */
final case class SubstreamSummary(
    count: Int,
    idle: Int,
    spread: Option[Long],
    listed: Seq[SubstreamReport]
)

private[watermark] object SubstreamSummary {

  /** Takes all but those of a name, and lists `most` of them. */
  def of(
      table: SubstreamTable,
      timeout: Option[Long],
      hidden: Option[String],
      most: Int
  ): SubstreamSummary = {
    val all = new Counted(most)
    val isHidden = hidden.flatMap(table.indexOf).getOrElse(-1)
    var i = 0
    while (i < table.size) {
      if (i != isHidden) all.add(table(i))
      i += 1
    }
    val listed =
      if (all.count > most) all.furthestAndLeader
      else table.iterator.filterNot(one => hidden.contains(one.name)).toSeq
    SubstreamSummary(all.count, all.idle, all.spread, listed.map(SubstreamReport.of(_, timeout)))
  }

  // The highest is the first to give way: it is idle, or ahead of the others. It is asked about each
  // substream, so it makes no objects.
  private val byNeed: Ordering[Substream] = (a, b) =>
    if (a.idle == b.idle) java.lang.Long.compare(watermarkOf(a), watermarkOf(b))
    else if (a.idle) 1
    else -1

  private def watermarkOf(one: Substream): Long = if (one.known) one.watermark else Long.MinValue

  private final class Counted(most: Int) {
    private val furthest = mutable.PriorityQueue.empty[Substream](byNeed)
    private var leader: Substream = _ // null while none was seen
    private var lowestTop = Long.MaxValue // of those that count
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
