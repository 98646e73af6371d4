package io.eventtide.spark.query.run

import java.io.{ByteArrayInputStream, ByteArrayOutputStream, DataInputStream, DataOutputStream}
import java.util.UUID

import io.eventtide.kernel.disorder.{BatchDisorder, DisorderHistory, Drift}
import io.eventtide.kernel.watermark.{
  Activity,
  Backlog,
  LookedAhead,
  SubstreamReport,
  SubstreamSummary,
  WatermarkStatus
}
import io.eventtide.spark.EventtideException
import io.eventtide.spark.options.WatermarkSettings
import io.eventtide.spark.query.monitor.{DisorderReport, InputReport, SubstreamLimit}
import io.eventtide.spark.spi.{BatchEventTimeStats, SubstreamName}

/** One input of a query: the rows under one watermark node, and the policies of its substreams.
  *
  * Each expected substream with an unknown name has a placeholder, which delays the watermark until
  * a substream with rows replaces it. There is at least one placeholder, so that an input without
  * rows delays the watermark of its query.
  *
  * @param curveRows
  *   the number of rows that the lag curve remembers; None without a lag curve
  */
private[query] final class QueryInput(
    val nodeId: UUID,
    val settings: WatermarkSettings,
    curveRows: Option[Long]
) {
  private var substreams = settings.newSubstreams()
  private lazy val placeholders =
    (1 to settings.expectedCount.getOrElse(1)).map(SubstreamName.placeholder)
  private var nextPlaceholder = 0
  private var hasNoPartitions = false // the source has no partitions any more
  private var badTime = 0L
  private var future = 0L
  private var aheadMicros = 0L
  private val growth = new SubstreamGrowth
  private var curve = newCurve

  /** Restores a snapshot and the increments after it.
    *
    * @param ahead
    *   the offset of the query's clock from the machine's clock, in microseconds
    */
  def restore(saved: Seq[Array[Byte]], ahead: Long = 0): Unit = {
    substreams = settings.newSubstreams(ahead)
    aheadMicros = ahead
    val records = saved.map(bytes => new DataInputStream(new ByteArrayInputStream(bytes)))
    records.foreach { record =>
      badTime = record.readLong()
      future = record.readLong()
      growth.restore(record)
      if (record.readBoolean()) {
        if (record eq records.head) curve = newCurve
        curve.getOrElse(QueryInput.newCurve(1)).restore(record)
      }
    }
    substreams.restore(records.head, records.tail)
  }

  private def newCurve: Option[DisorderHistory] = curveRows.map(QueryInput.newCurve)

  /** Sets the offset of the query's clock from the machine's clock; measured durations stay. */
  def correct(ahead: Long): Unit = restore(Seq(save(whole = true)), ahead)

  /** Begins without saved state: expected substreams delay the watermark from `now` on. */
  def begin(now: Long): Unit = {
    val names =
      if (settings.expected.nonEmpty) settings.expected
      else if (!settings.hasSubstreams) Seq(SubstreamName.Global)
      else placeholders
    names.foreach(substreams.declare(_, now))
  }

  /** Takes the backlogs of all partitions from the source.
    *
    * A partition with a backlog is declared before its first row, so that it delays the watermark.
    * A partition without rows is declared only if it can become idle; otherwise it would stop the
    * watermark permanently.
    */
  def updateBacklogs(now: Long, backlogs: Map[String, Backlog]): Unit = {
    val canBeIdle = settings.idleTimeoutMicros.isDefined
    val begun = backlogs.filter { case (name, backlog) =>
      substreams.indexOf(name).isEmpty && (backlog == Backlog.Pending || canBeIdle)
    }
    val most = this.most
    begun.keys.toSeq.sorted.foreach(declare(_, now, most))
    substreams.backlogs(backlogs.flatMap { case (name, of) =>
      substreams.indexOf(name).map(_ -> of)
    })
  }

  /** The partitions with a backlog. */
  def partitionsWithBacklog: Seq[String] =
    substreams.report.filter(_.backlog == Backlog.Pending).map(_.name)

  /** Takes that partitions have been read to their end. */
  def endBacklogs(now: Long, partitions: Seq[String]): Unit = {
    updateBacklogs(now, partitions.map(_ -> Backlog.Empty).toMap)
    val known = substreams.report.filter(_.backlog != Backlog.Unknown).map(_.name)
    retainPartitions(now, known.toSet)
  }

  /** Removes partitions that the source does not have (any more), so that they do not delay the
    * watermark.
    *
    * If the source has no partitions at all, as for a pattern that matches no topic, the known
    * partitions are kept: access to them may have been revoked. They no longer delay the watermark:
    * the input is idle until the source has a partition.
    *
    * @param rows
    *   the rows that arrived at this clock value
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
      nextPlaceholder = 0
      substreams.declare(SubstreamName.placeholder(1), now): Unit
    }
  }

  private def isGone(one: SubstreamReport, partitions: Set[String]): Boolean =
    if (partitions(one.name)) canBeDropped(one) else !isAwaited(one)

  // The source has never reported such a partition, but it is expected.
  private def isAwaited(one: SubstreamReport): Boolean =
    one.backlog == Backlog.Unknown &&
      (SubstreamName.isPlaceholder(one.name) || settings.expected.contains(one.name))

  // The partition was awaited, has no row here up to its end, and can never become idle.
  private def canBeDropped(one: SubstreamReport): Boolean =
    one.rows == 0 && one.backlog == Backlog.Empty && settings.idleTimeoutMicros.isEmpty &&
      settings.expected.isEmpty && settings.expectedCount.isEmpty

  /** Assumes a backlog for each partition if the source cannot report it, so that no partition
    * becomes idle.
    *
    * @param partitions
    *   the partitions that were read before, which this input may not have declared yet
    */
  def assumeBacklogs(now: Long, partitions: Map[String, Backlog]): Unit = {
    hasNoPartitions = false
    updateBacklogs(now, partitions)
    substreams.backlogs(substreams.report.filter(_.backlog != Backlog.Unknown).flatMap { one =>
      substreams.indexOf(one.name).map(_ -> Backlog.Pending)
    })
  }

  /** The lag that a late target has learnt; None without one. */
  def learntLag: Option[Long] = substreams.learntLag

  /** Counts the refused rows of a batch. */
  def refuse(rows: BatchEventTimeStats): Unit = {
    badTime += rows.badTime
    future += rows.future
  }

  /** Takes the rows of a batch, and the time until `now` if it is `credited`.
    *
    * Substreams that are removed at the end of the batch free their places for substreams that
    * begin in it.
    *
    * @param missed
    *   the rows by the lag that the query's window needs for them; None to take the rows by their
    *   disorder
    */
  def observe(
      now: Long,
      rows: BatchEventTimeStats,
      credited: Boolean,
      missed: Option[BatchDisorder] = None
  ): Unit = {
    if (!credited) substreams.skip(now)
    if (!rows.isEmpty) hasNoPartitions = false
    val most = this.most
    // Substreams that begin in the batch have rows, so none of them is removed at its end.
    val meanwhile = if (settings.ttlMicros.isEmpty) most else most + settings.maxSubstreams
    val seen = rows.substreams.map { case (name, times) =>
      times.of(substreams.indexOf(name).getOrElse(declare(name, now, meanwhile)))
    }
    val disorder = missed.orElse(rows.disorder)
    substreams.observeBatch(now, seen, disorder.getOrElse(BatchDisorder.None))
    disorder.foreach(of => curve.foreach(_.observe(now, of.rows)))
    if (substreams.size > most) refuseMore()
    growth.add(now, substreams.size)
  }

  // The limit may be lower than the number of substreams from an earlier run.
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

  // Placeholders are replaced in order, so a replaced one is not looked up again.
  private def placeholder: Option[Int] = {
    while (
      nextPlaceholder < placeholders.length && substreams
        .indexOf(placeholders(nextPlaceholder))
        .isEmpty
    ) {
      nextPlaceholder += 1
    }
    placeholders.lift(nextPlaceholder).flatMap(substreams.indexOf)
  }

  /** The watermark and idleness of this input at `now` if there are no more rows. */
  def at(now: Long): LookedAhead = {
    val ahead = substreams.lookAhead(now)
    ahead.copy(isIdle = hasNoPartitions || ahead.isIdle)
  }

  def raise(micros: Long, now: Long): Unit = substreams.raise(micros, now)

  /** See `Substreams.lowestTop`. */
  def lowestTop(now: Long): Option[Long] = substreams.lowestTop(now)

  def isIdle: Boolean = hasNoPartitions || substreams.status == WatermarkStatus.Idle

  /** Whether no rows until `now` would make a substream idle, or advance its watermark. */
  def isMovedByIdleness(now: Long): Boolean = substreams.isMovedByIdleness(now)

  def emitted: Option[Long] = substreams.emitted

  def ideal: Option[Long] = substreams.ideal

  /** The times at which, without rows, the watermark reaches `target` and the input becomes idle.
    */
  def deadline(target: Long): (Option[Long], Option[Long]) =
    (substreams.dueAt(target), if (hasNoPartitions) Some(Long.MinValue) else substreams.idleAt)

  /** The state to save: a snapshot, or the changes since the last save. */
  def save(whole: Boolean): Array[Byte] = {
    val buffer = new ByteArrayOutputStream
    val out = new DataOutputStream(buffer)
    out.writeLong(badTime)
    out.writeLong(future)
    growth.save(out)
    out.writeBoolean(curve.isDefined)
    curve.foreach(_.save(out, whole))
    if (whole) substreams.saveWhole(out) else substreams.saveChanged(out)
    buffer.toByteArray
  }

  /** @param named
    *   a part of the names of the substreams that are listed
    */
  def report(
      position: Int,
      rows: BatchEventTimeStats,
      named: Option[String] = None
  ): InputReport = InputReport(
    position,
    settings,
    if (isIdle) WatermarkStatus.Idle else substreams.status,
    ideal,
    emitted,
    badTime,
    future,
    if (hasNoPartitions) asIdle(summary(named)) else summary(named),
    rows,
    limit,
    aheadMicros,
    curve.filter(_.recent.rows > 0).map(DisorderReport.of)
  )

  /** The change of its disorder, if it is large. */
  def drift: Option[Drift] = curve.flatMap(DisorderReport.drift)

  // The placeholder that every input has before its first row is not a substream of the user.
  private def summary(named: Option[String]): SubstreamSummary = substreams.summary(
    QueryInput.Listed,
    hidden = Option.when(settings.expectedCount.isEmpty)(SubstreamName.placeholder(1)),
    named
  )

  private def asIdle(all: SubstreamSummary): SubstreamSummary = all.copy(
    idle = all.count,
    spread = all.listed.flatMap(_.top).headOption.map(_ => 0L),
    listed = all.listed.map(_.copy(activity = Activity.CaughtUp))
  )

  /** The number of substreams and its limit. */
  def limit: SubstreamLimit = SubstreamLimit(
    substreams.size,
    settings.maxSubstreams,
    growth.reachesInMicros(settings.maxSubstreams)
  )
}

private[query] object QueryInput {
  private val HourMicros = 3600000000L

  private def newCurve(rows: Long) = new DisorderHistory(rows, HourMicros)

  /** The maximum number of substreams in a report: the driver could not store more. */
  private val Listed = 10000

  /** The condition of the error that ends a query with more than `maxSubstreams` substreams. */
  val TooMany = "TOO_MANY_SUBSTREAMS"
}
