package io.eventtide.spark.query.run

import scala.util.Try

import org.apache.spark.sql.execution.streaming.operators.stateful.{
  EventTimeStats => SparkEventTimeStats
}

import io.eventtide.kernel.disorder.DisorderHistogram
import io.eventtide.spark.EventtideException
import io.eventtide.spark.query.monitor.BatchPoint
import io.eventtide.spark.spi.BatchEventTimeStats

/** The end of a batch. Credits the batch's rows and time to the policies, and reports the watermark
  * to Spark. Before Spark commits the batch, it writes the late index and the ledger.
  *
  * The watermark advances only if the batch had rows. Otherwise a no-data batch, which Spark runs
  * for an operator's cleanup, would cause the next no-data batch.
  */
private[run] final class BatchEnd(run: RunState, recorder: LedgerRecorder) {
  import PartitionBacklogs.Backlogs
  import run._

  // A sink that already has the results of a replayed batch may skip the batch. This may be a
  // decision of the sink itself, or of the user's code in it.
  private var sinkMaySkip = true

  /** Runs a replayed batch to collect the reports of its tasks, if the sink has skipped it. */
  def runIfSinkSkipped(ended: BatchWatermark): Unit = {
    val asks = locked(sinkMaySkip) && isReplayed(ended.info.batchId)
    def matters = timers.hasWindows || query.namesState || !query.readNothing(isClock)
    if (asks && ended.hasNoReports && matters) query.runBatch()
    locked { sinkMaySkip = false }
  }

  /** Ends a batch and returns the statistics for Spark's watermark tracker. */
  def apply(ended: BatchWatermark): SparkEventTimeStats = {
    guarded(beginTrail(ended.info.batchId))
    val rows = locked(inputs.onTime(ended.rows(inputs.positions), ended.lowestOnTime))
    val hadRows = rows.values.exists(!_.isEmpty)
    credit(ended, rows, hadRows)
    write(ended)
    guarded { if (hadRows || hasMoved) addPoint(ended, rows) }
    notifyMonitor(ended.clockMicros, hadRows || rows.values.exists(_.refused > 0))
    locked(stats(rows.values.filterNot(_.isEmpty).toSeq))
  }

  private def credit(
      ended: BatchWatermark,
      rows: Map[Int, BatchEventTimeStats],
      hadRows: Boolean
  ): Unit = {
    val counts = hadRows || isCredited
    val ofTasks = ended.inputState
    val leftBacklogs = if (counts && ofTasks.isEmpty) backlogsAfter(ended) else None
    orByOwnSettings(ended.info.batchId)(locked {
      val now = timeOf(ended)
      clock.passed(now)
      val closing = Option.when(ended.info.watermarkMs > 0)(ended.watermarkMicros)
      closing.foreach(inputs.raise(_, now))
      inputs.closed(closing, now)
      ofTasks match {
        case Some(state) => inputs.resume(state, clock.saved.aheadMicros)
        case None =>
          if (counts) observe(now, rows, leftBacklogs, ended)
          if (hadRows) inputs.emit(now)
      }
      if (hadRows) inputs.reach(now)
      inputs.refuse(rows)
      take(ended, rows)
    })
  }

  // In real-time mode, rows have arrived up to the end of the batch.
  private def timeOf(ended: BatchWatermark): Long =
    if (query.isRealTime) math.max(ended.clockMicros, clock.at(query.nowMs * 1000))
    else ended.clockMicros

  // A replayed batch may have more substreams than its first run allows. It has produced no result
  // under the settings of that run, so it ends with the settings of this run.
  private def orByOwnSettings(batchId: Long)(end: => Unit): Unit =
    try end
    catch {
      case refused: EventtideException
          if refused.condition == QueryInput.TooMany && hasReplayInputs =>
        val entries = epoch.owning(ledger.read(below = batchId))
        locked {
          inputs = ownInputs
          inputs.restore(entries)
          inputs.correct(clock.saved.aheadMicros)
        }
        end
    }

  // The backlogs of the sources after a batch; None if a source cannot report its backlog. If the
  // absence of rows decides something, the sources are queried again, because their last answers
  // are older than the batch's timestamp. The lock is not held meanwhile, so that reports do not
  // wait. A replayed batch always queries them: their answers to its first run are lost.
  private def backlogsAfter(ended: BatchWatermark): Option[Map[Int, Backlogs]] = {
    val asks = isReplayed(ended.info.batchId) || locked {
      !hold.isHolding && inputs.isMovedByIdleness(ended.clockMicros)
    }
    if (asks) Try(backlogs.latest).toOption else Some(backlogs.changed)
  }

  private def observe(
      now: Long,
      rows: Map[Int, BatchEventTimeStats],
      leftBacklogs: Option[Map[Int, Backlogs]],
      ended: BatchWatermark
  ): Unit = {
    inputs.takeBacklogs(now, leftBacklogs, backlogs.assumed)
    val missed = late.disorder(ended.lateLogs.values)
    inputs.observe(now, rows, credited = !hold.isHolding, missed)
    inputs.retainPartitions(now, leftBacklogs.getOrElse(Map.empty), rows)
  }

  private def take(ended: BatchWatermark, rows: Map[Int, BatchEventTimeStats]): Unit = {
    late.take(ended.lateLogs)
    if (ended.countsFrames) takeFrames(ended, rows)
    timers.take(ended.nextDue, isReplayed(ended.info.batchId))
    ticks.reschedule()
    lastBatch = Some(LastBatch(ended, rows, query.readNothing(isClock)))
  }

  private def takeFrames(ended: BatchWatermark, rows: Map[Int, BatchEventTimeStats]): Unit = {
    val disorder = DisorderHistogram.sum(rows.values.flatMap(_.disorder).map(_.rows))
    val reached = inputs.judging.micros
    val batch = EndedBatch(ended.info.batchId, ended.nowMicros, reached, disorder)
    completeness.take(batch, ended.lateLogs) { window =>
      ended.closedBy(window).map(ended.settings(window).onTime.closed)
    }
  }

  private def write(ended: BatchWatermark): Unit = {
    val batchId = ended.info.batchId
    val isReplay = isReplayed(batchId)
    epoch.check()
    if (isReplay) epoch.checkUncommitted(batchId)
    epoch.owning {
      late.write(batchId, ended.nowMicros)
      if (!steps.isDoubtful) late.forget(batchId, ended.nowMicros)
    }
    if (!(isReplay && timers.hasOtherBatchOptions)) bounds.take(ended.boundsReported)
    recorder.endOfBatch(batchId)
  }

  // What was before the first batch of the run, so that charts know what is new in it.
  private def beginTrail(batchId: Long): Unit = locked {
    if (trail.last.isEmpty) {
      val counts = late.countsWith(Nil)
      val start =
        BatchPoint(batchId - 1, atMicros = 0, inputs.emitted, None, counts.onTime, counts.late)
      trail.add(start)
    }
  }

  private def hasMoved: Boolean = locked(trail.last.exists(_.watermark != inputs.emitted))

  private def addPoint(ended: BatchWatermark, rows: Map[Int, BatchEventTimeStats]): Unit = locked {
    val highest = rows.values.filterNot(_.isEmpty).map(_.max)
    val leader = (trail.last.flatMap(_.leader) ++ highest).maxOption
    val counts = late.countsWith(Nil)
    val at = ended.nowMicros
    trail.add(
      BatchPoint(ended.info.batchId, at, inputs.emitted, leader, counts.onTime, counts.late)
    )
  }

  private def notifyMonitor(now: Long, hadRows: Boolean): Unit = guarded {
    val (ideal, limits, drifts) = locked((inputs.ideal, inputs.limits, inputs.drifts))
    if (hadRows || late.inLastBatch) monitor.ended(now, report, ideal, late.lateness)
    monitor.counted(limits)
    if (hadRows) monitor.drifted(drifts)
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
