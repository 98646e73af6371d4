package io.eventtide.spark.operators.late

import org.apache.spark.sql.catalyst.InternalRow

import io.eventtide.spark.latelog.{LateLog, LateLogWriter, LateReason}
import io.eventtide.spark.operators.{AcceptedTimes, WindowBatchContext}
import io.eventtide.spark.options.WindowSettings
import io.eventtide.spark.spi.ReachedTime

/** The limits for rows on time in one batch; created on the driver, opened by each task.
  *
  * @param below
  *   the time below which rows are late
  * @param times
  *   the accepted event times
  * @param reached
  *   the time to which disorder is relative; None if it is not counted
  * @param countsFrames
  *   whether rows are counted by frame
  */
private[late] final class LateRowBounds(
    val below: Long,
    val times: AcceptedTimes,
    val reached: Option[ReachedTime],
    val countsFrames: Boolean,
    val settings: WindowSettings,
    log: Option[LateLog]
) extends Serializable {

  def open(partition: Int): LateRowJudge = {
    val found = log.getOrElse(throw new IllegalStateException("no batch of a streaming query"))
    new LateRowJudge(this, found.open(partition))
  }
}

private[late] object LateRowBounds {

  def apply(batch: Option[WindowBatchContext], limits: LateRowFilterSpec): LateRowBounds = {
    val LateRowFilterSpec(_, _, guard, settings) = limits
    val below = batch.flatMap(_.lateMicros).fold(Long.MinValue)(settings.spec.lateBelow)
    val times = AcceptedTimes(settings.times, guard, batch.map(_.nowMicros))
    val countsFrames = batch.exists(_.countsFrames)
    val reached = batch.flatMap(_.reached)
    new LateRowBounds(below, times, reached, countsFrames, settings, batch.map(_.lateLog))
  }
}

/** Logs the rows of one partition that are not on time; rows on time are only counted. */
final class LateRowJudge private[late] (judge: LateRowBounds, log: LateLogWriter) {

  /** Event times from `earliest` to `latest` are on time. */
  val earliest: Long = math.max(judge.below, judge.times.earliest)
  val latest: Long = judge.times.latest

  private val times = judge.times
  private val spec = judge.settings.spec

  private val lateReason = LateReason.of(spec.profile.lateRule)

  private val disorder = judge.reached.map(_ => log.beginDisorder()).orNull // if it is counted
  private val reached = judge.reached.getOrElse(ReachedTime.None).micros

  // Rows below this time would be late without a lag.
  private val inOrderFrom = if (reached == Long.MinValue) reached else spec.lateBelow(reached)

  private val frames = spec.frames
  private val frameRows = if (judge.countsFrames) log.beginFrames() else null

  /** Counts a row with this time as on time. */
  def pass(micros: Long): Unit = {
    if (frameRows != null) frameRows.onTime.add(frames.index(micros))
    if (micros < inOrderFrom) countDisorder(micros)
    log.pass(micros)
  }

  // A row is late with the lags that are shorter than its disorder.
  private def countDisorder(micros: Long): Unit =
    disorder.add(reached - spec.lateFrom(micros) + 1)

  private def countLate(micros: Long): Unit = {
    if (frameRows != null) frameRows.late.add(frames.index(micros))
    if (micros < inOrderFrom) countDisorder(micros)
  }

  def add(row: InternalRow, missing: Boolean, micros: Long): Unit =
    if (missing || !times.valid.contains(micros))
      log.addWithoutTime(row)
    else {
      val isFuture = times.isFuture(micros)
      val reason = if (isFuture) LateReason.Future else lateReason
      if (!isFuture) countLate(micros)
      log.add(row, reason, micros, Some(spec.windowsOf(micros)))
    }
}
