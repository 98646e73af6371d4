package io.eventtide.spark.query.run

import scala.util.Try

import org.apache.spark.sql.execution.streaming.operators.stateful.{
  EventTimeStats => SparkEventTimeStats
}

import io.eventtide.spark.EventtideException
import io.eventtide.spark.spi.BatchEventTimeStats

/** The end of a batch: credits its rows and its time, writes what has to be there before Spark commits
  * the batch, and says the watermark.
  *
  * The watermark moves only if the batch had rows: what an operator does to clean up would otherwise
  * cause the next batch without rows.
  */
private[run] final class BatchEnd(run: RunState, recorder: LedgerRecorder) {
  import PartitionBacklogs.Backlogs
  import run._

  // A sink that has the results of a replayed batch, by itself or by what its user wrote, skips them.
  private var sinkMaySkip = true

  /** Runs a replayed batch for what its tasks report, if its sink has not run it. */
  def runIfSinkSkipped(ended: BatchWatermark): Unit = {
    val asks = locked(sinkMaySkip) && isReplayed(ended.info.batchId)
    val matters = timers.hasWindows || query.namesState || !query.readNothing(isClock)
    if (asks && ended.hasNoReports && matters) query.runBatch()
    locked { sinkMaySkip = false }
  }

  /** Ends a batch; what Spark's tracker is told. */
  def apply(ended: BatchWatermark): SparkEventTimeStats = {
    val rows = locked(inputs.onTime(ended.rows(inputs.positions), ended.lowestOnTime))
    val hadRows = rows.values.exists(!_.isEmpty)
    credit(ended, rows, hadRows)
    write(ended)
    notifyMonitor(ended.clockMicros, hadRows || rows.values.exists(_.refused > 0))
    locked(stats(rows.values.filterNot(_.isEmpty).toSeq))
  }

  private def credit(
      ended: BatchWatermark,
      rows: Map[Int, BatchEventTimeStats],
      hadRows: Boolean
  ): Unit = {
    val counts = hadRows || isCredited
    val left = if (counts) leftAfter(ended) else None
    orByOwnSettings(ended.info.batchId)(locked {
      clock.passed(ended.clockMicros)
      if (ended.info.watermarkMs > 0) inputs.raise(ended.watermarkMicros, ended.clockMicros)
      inputs.refuse(rows)
      if (counts) observe(ended.clockMicros, rows, left)
      if (hadRows) inputs.emit(ended.clockMicros)
      take(ended, rows)
    })
  }

  // A batch that has too many substreams for the run that began it has come to no result by the settings
  // of that run. So it ends by those of this one.
  private def orByOwnSettings(batchId: Long)(end: => Unit): Unit =
    try end
    catch {
      case refused: EventtideException
          if refused.condition == QueryInput.TooMany && hasInputsOfOtherRun =>
        val entries = ledger.read(below = batchId)
        locked {
          inputs = ownInputs
          inputs.restore(entries)
          inputs.correct(clock.saved.aheadMicros)
        }
        end
    }

  // What sources have left after a batch; None where one cannot say. Where silence decides something
  // they are asked once more, while reports may be had: what they have said is older than the batch's
  // own time. What they said to the first run of a replayed batch is not known any more.
  private def leftAfter(ended: BatchWatermark): Option[Map[Int, Backlogs]] = {
    val asks = isReplayed(ended.info.batchId) || locked {
      !hold.holding && inputs.isSilenceUpTo(ended.clockMicros)
    }
    if (asks) Try(backlogs.latest).toOption else Some(backlogs.news)
  }

  private def observe(
      now: Long,
      rows: Map[Int, BatchEventTimeStats],
      left: Option[Map[Int, Backlogs]]
  ): Unit = {
    left match {
      case Some(partitions) => inputs.updateBacklogs(now, partitions)
      case None => inputs.assumeBacklogs(now, backlogs.assumed)
    }
    inputs.observe(now, rows, credited = !hold.holding)
    inputs.retainPartitions(now, left.getOrElse(Map.empty), rows)
  }

  private def take(ended: BatchWatermark, rows: Map[Int, BatchEventTimeStats]): Unit = {
    late.take(ended.lateLogs)
    timers.take(ended.nextDue, isReplayed(ended.info.batchId))
    ticks.reschedule()
    lastBatch = Some(LastBatch(ended, rows, query.readNothing(isClock)))
  }

  private def write(ended: BatchWatermark): Unit = {
    val batchId = ended.info.batchId
    val isReplay = isReplayed(batchId)
    epoch.check()
    if (isReplay) epoch.checkUncommitted(batchId)
    late.write(batchId, ended.nowMicros)
    if (!steps.isDoubtful) late.forget(batchId, ended.nowMicros)
    if (!(isReplay && timers.wasBegunByOthers)) bounds.take(ended.boundsReported)
    recorder.endOfBatch(batchId)
  }

  private def notifyMonitor(now: Long, hadRows: Boolean): Unit = guarded {
    if (hadRows || late.counts.batch.nonEmpty)
      monitor.ended(now, report, inputs.ideal, late.lateness)
    monitor.counted(inputs.limits)
    publish()
  }

  private def stats(rows: Seq[BatchEventTimeStats]): SparkEventTimeStats = inputs.emitted match {
    case Some(micros) =>
      val ms = micros / 1000
      val lowest = rows.map(_.min / 1000).minOption.getOrElse(ms)
      SparkEventTimeStats(max = ms, min = math.min(lowest, ms), avg = ms.toDouble, count = 1)
    case None => SparkEventTimeStats.zero
  }
}
