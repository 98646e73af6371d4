package io.eventtide.spark.query.run

import java.io.{ByteArrayInputStream, ByteArrayOutputStream, DataInputStream, DataOutputStream}
import java.util.UUID

import io.eventtide.kernel.watermark.{
  Activity,
  Backlog,
  LookedAhead,
  Status,
  SubstreamReport,
  SubstreamSummary
}
import io.eventtide.spark.EventtideException
import io.eventtide.spark.options.WatermarkSettings
import io.eventtide.spark.query.monitor.{InputReport, SubstreamLimit}
import io.eventtide.spark.spi.{BatchEventTimeStats, SubstreamName}

/** One input of a query: the rows under one watermark node, and the policies of its substreams.
  *
  * Substreams that are expected, but whose names are not known, have a stand-in each, which holds the
  * watermark back until a substream that is seen takes its place. There is one at least, so that
  * an input that has not had a row yet holds back the others of its query.
  */
private[query] final class QueryInput(val nodeId: UUID, val settings: WatermarkSettings) {
  private var substreams = settings.newSubstreams()
  private lazy val placeholders =
    (1 to settings.expectedCount.getOrElse(1)).map(SubstreamName.placeholder)
  private var firstLeft = 0
  private var hasNoPartitions = false // its source has no partitions any more
  private var badTime = 0L
  private var future = 0L
  private var aheadMicros = 0L
  private val growth = new SubstreamGrowth

  /** Takes over what was saved: whole, and the changes after it.
    *
    * @param ahead
    *   how far the query's clock is ahead of the machine's, in microseconds
    */
  def restore(saved: Seq[Array[Byte]], ahead: Long = 0): Unit = {
    substreams = settings.newSubstreams(ahead)
    aheadMicros = ahead
    val records = saved.map(bytes => new DataInputStream(new ByteArrayInputStream(bytes)))
    records.foreach { record =>
      badTime = record.readLong()
      future = record.readLong()
      growth.restore(record)
    }
    substreams.restore(records.head, records.tail)
  }

  /** The query's clock is so far ahead of the machine's from now on; what was measured stays. */
  def correct(ahead: Long): Unit = restore(Seq(save(whole = true)), ahead)

  /** Begins: substreams that are expected hold the watermark back from `now` on. */
  def begin(now: Long): Unit = {
    val names =
      if (settings.expected.nonEmpty) settings.expected
      else if (!settings.hasSubstreams) Seq(SubstreamName.Whole)
      else placeholders
    names.foreach(substreams.declare(_, now))
  }

  /** Takes what the source says of all its partitions.
    *
    * One with a backlog is declared before its first row, so that it holds the others back. So is one
    * that has nothing yet, if it can become idle: else it would hold them back for ever.
    */
  def updateBacklogs(now: Long, backlogs: Map[String, Backlog]): Unit = {
    val canBeIdle = settings.idleTimeoutMicros.isDefined
    val begun = backlogs.filter { case (name, backlog) =>
      substreams.indexOf(name).isEmpty && (backlog == Backlog.Waiting || canBeIdle)
    }
    val most = this.most
    begun.keys.toSeq.sorted.foreach(declare(_, now, most))
    substreams.backlogs(backlogs.flatMap { case (name, of) =>
      substreams.indexOf(name).map(_ -> of)
    })
  }

  /** Takes out partitions that the source has not, or has no more: nobody can wait for them.
    *
    * When it has none at all, as those of a pattern that fits no topic, they stay, as somebody may have
    * forbidden to see them, and are waited for no more: the whole is idle until there is one.
    *
    * @param rows
    *   what came at this clock value
    */
  def retainPartitions(
      now: Long,
      partitions: Set[String],
      rows: BatchEventTimeStats = BatchEventTimeStats.Empty
  ): Unit = {
    val reports = substreams.report
    hasNoPartitions = partitions.isEmpty && !reports.exists(isAwaited)
    if (partitions.nonEmpty) removeSubstreams(now, rows, reports.filter(isGone(_, partitions)))
  }

  private def removeSubstreams(
      now: Long,
      rows: BatchEventTimeStats,
      gone: Seq[SubstreamReport]
  ): Unit = {
    val cap = if (rows.isEmpty) Long.MaxValue else rows.max
    gone.foreach(one => substreams.indexOf(one.name).foreach(substreams.remove(_, now, cap)))
    if (gone.nonEmpty && substreams.size == 0) {
      firstLeft = 0
      substreams.declare(SubstreamName.placeholder(1), now): Unit
    }
  }

  private def isGone(one: SubstreamReport, partitions: Set[String]): Boolean =
    if (partitions(one.name)) canBeDropped(one) else !isAwaited(one)

  // There has never been such a partition, and one is expected.
  private def isAwaited(one: SubstreamReport): Boolean =
    one.backlog == Backlog.Unknown &&
      (SubstreamName.isPlaceholder(one.name) || settings.expected.contains(one.name))

  // It was waited for, and of all that it had nothing came here; nor does it ever become idle.
  private def canBeDropped(one: SubstreamReport): Boolean =
    one.rows == 0 && one.backlog == Backlog.Empty && settings.idleTimeoutMicros.isEmpty &&
      settings.expected.isEmpty && settings.expectedCount.isEmpty

  /** Nobody can say what its partitions have left: none of them becomes idle by that.
    *
    * @param partitions
    *   those that were read before, which may not be known here
    */
  def assumeBacklogs(now: Long, partitions: Map[String, Backlog]): Unit = {
    hasNoPartitions = false
    updateBacklogs(now, partitions)
    substreams.backlogs(substreams.report.filter(_.backlog != Backlog.Unknown).flatMap { one =>
      substreams.indexOf(one.name).map(_ -> Backlog.Waiting)
    })
  }

  /** Counts the rows of a batch that were refused. */
  def refuse(rows: BatchEventTimeStats): Unit = {
    badTime += rows.badTime
    future += rows.future
  }

  /** Takes the rows of a batch; the time until `now` counts too, unless it is not `credited`.
    *
    * Substreams that are forgotten at the end of the batch make room for those that begin in it.
    */
  def observe(now: Long, rows: BatchEventTimeStats, credited: Boolean): Unit = {
    if (!credited) substreams.skip(now)
    if (!rows.isEmpty) hasNoPartitions = false
    val most = this.most
    // Those that begin have rows, so that none of them is forgotten.
    val meanwhile = if (settings.ttlMicros.isEmpty) most else most + settings.maxSubstreams
    val seen = rows.substreams.map { case (name, times) =>
      times.of(substreams.indexOf(name).getOrElse(declare(name, now, meanwhile)))
    }
    substreams.observeBatch(now, seen)
    if (substreams.size > most) refuseMore()
    growth.add(now, substreams.size)
  }

  // The limit may be lower than what an earlier run has left.
  private def most: Long = math.max(substreams.size, settings.maxSubstreams).toLong

  private def declare(name: String, now: Long, most: Long): Int = placeholder match {
    case Some(index) =>
      substreams.rename(index, name, now)
      index
    case None if substreams.size >= most => refuseMore()
    case None => substreams.declare(name, now)
  }

  private def refuseMore(): Nothing =
    throw EventtideException(QueryInput.TooMany, "max" -> settings.maxSubstreams)

  // They give way in order, so that one that is gone need not be looked for again.
  private def placeholder: Option[Int] = {
    while (firstLeft < placeholders.length && substreams.indexOf(placeholders(firstLeft)).isEmpty) {
      firstLeft += 1
    }
    placeholders.lift(firstLeft).flatMap(substreams.indexOf)
  }

  /** How this input would be at `now`, were there no more rows. */
  def at(now: Long): LookedAhead = {
    val ahead = substreams.lookAhead(now)
    ahead.copy(isIdle = hasNoPartitions || ahead.isIdle)
  }

  def raise(micros: Long, now: Long): Unit = substreams.raise(micros, now)

  def isIdle: Boolean = hasNoPartitions || substreams.status == Status.Idle

  /** Whether silence until `now` would make one idle, or move its watermark. */
  def isSilenceUpTo(now: Long): Boolean = substreams.isSilenceUpTo(now)

  def emitted: Option[Long] = substreams.emitted

  def ideal: Option[Long] = substreams.ideal

  /** From when on this input is at `target`, and from when on it is idle, without rows. */
  def deadline(target: Long): (Option[Long], Option[Long]) =
    (substreams.dueAt(target), if (hasNoPartitions) Some(Long.MinValue) else substreams.idleAt)

  /** The saved state: whole, or what changed since it was last saved. */
  def save(whole: Boolean): Array[Byte] = {
    val buffer = new ByteArrayOutputStream
    val out = new DataOutputStream(buffer)
    out.writeLong(badTime)
    out.writeLong(future)
    growth.save(out)
    if (whole) substreams.saveWhole(out) else substreams.saveChanged(out)
    buffer.toByteArray
  }

  def report(position: Int, rows: BatchEventTimeStats): InputReport = InputReport(
    position,
    settings,
    if (isIdle) Status.Idle else substreams.status,
    ideal,
    emitted,
    badTime,
    future,
    if (hasNoPartitions) withoutWaiting(summary) else summary,
    rows,
    limit,
    aheadMicros
  )

  // The stand-in that every input has before its first row is nobody's substream.
  private def summary: SubstreamSummary = substreams.summary(
    QueryInput.Listed,
    hidden = Option.when(settings.expectedCount.isEmpty)(SubstreamName.placeholder(1))
  )

  private def withoutWaiting(all: SubstreamSummary): SubstreamSummary = all.copy(
    idle = all.count,
    spread = all.listed.flatMap(_.top).headOption.map(_ => 0L),
    listed = all.listed.map(_.copy(activity = Activity.CaughtUp))
  )

  /** How many substreams there are, and may be. */
  def limit: SubstreamLimit = SubstreamLimit(
    substreams.size,
    settings.maxSubstreams,
    growth.reachesInMicros(settings.maxSubstreams)
  )
}

private[query] object QueryInput {

  /** A report with more substreams would be more than a driver can hold. */
  private val Listed = 10000

  /** The condition of the error that ends a query with more substreams than it may have. */
  val TooMany = "TOO_MANY_SUBSTREAMS"
}
