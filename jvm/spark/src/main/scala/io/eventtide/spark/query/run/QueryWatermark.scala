package io.eventtide.spark.query.run

import java.util.UUID

import scala.util.Try

import org.apache.spark.sql.eventtide.BatchInfo

import io.eventtide.spark.checkpoint.WriteConflict
import io.eventtide.spark.options.WatermarkSettings
import io.eventtide.spark.query.monitor.{BatchPoint, InputReport, WatermarkReport}

/** The watermark of one run of a streaming query: the policies of all its inputs, and their state.
  *
  * The watermark advances at two points, and Spark records both:
  *
  *   - at the end of a batch that had rows (`BatchEnd`), for the next batch, in the commit log;
  *   - before a batch that the clock requests (`ClockTick`), for that batch itself, in the offset
  *     log.
  *
  * The state is a function of the last ledger entry, the rows of the batch and the batch's
  * timestamp. So a replayed batch ends in the same state.
  */
private[spark] final class QueryWatermark private[run] (run: RunState) {
  private val recorder = new LedgerRecorder(run)
  private val restore = new Restore(run, recorder)
  private val clockTick = new ClockTick(run, restore, recorder)
  private val batchEnd = new BatchEnd(run, recorder)

  private val runningTasks =
    Option.when(run.query.isRealTime)(RunningTasks.listen(run.query.session.sparkContext, run))
  private var isClaimed = false

  def queryId: UUID = run.query.id
  def name: Option[String] = run.query.name

  /** Its name, or else its id. */
  def title: String = name.getOrElse(queryId.toString)

  /** Its last batches, for charts. */
  def points: Seq[BatchPoint] = run.trail.points

  /** The session that started the query. */
  def owner: String = run.query.owner

  def runId: UUID = run.query.runId
  def nowMs: Long = run.query.nowMs
  def isActive: Boolean = run.query.isActive

  def nameConflict(): Unit = WriteConflict.name(run.query)

  def has(nodeId: UUID): Boolean =
    run.inputs.positions.contains(nodeId) || run.late.has(nodeId)

  /** Called when the run has ended. */
  private[run] def close(): Unit = {
    run.metrics.remove()
    runningTasks.foreach(run.query.session.sparkContext.removeSparkListener(_))
  }

  /** True for the first clock source that opens: only this source ticks for the query. */
  def claimClock(): Boolean = run.locked {
    val first = !isClaimed
    isClaimed = true
    first
  }

  /** Ends the query if the machine's clock has jumped forward and a policy follows the clock. */
  def checkClock(): Unit = run.checkClock()

  /** Whether the clock requests a batch; see `ClockTick`. */
  def tick(): Boolean = clockTick.tick()

  /** As `tick`, in a run that reads the available data and ends; see `ClockTick`. */
  def lastTick(nowMs: Long): Boolean = clockTick.lastTick(nowMs)

  def report: WatermarkReport = run.report

  /** The substreams of an input whose names have a part. */
  def find(position: Int, named: String): Option[InputReport] = run.find(position, named)

  /** The batch that Spark is planning: the same object for all nodes of the batch. */
  def planned(info: BatchInfo): BatchWatermark =
    run.locked(run.planned.filter(_.info == info)).getOrElse {
      run.epoch.check() // now that Spark has written the batch's offsets
      restore.replayIfNotDone(info.batchId)
      run.drain.check(info, run.lastBatch.map(_.batch.info))
      run.epoch.statePartitions.foreach { state =>
        state.idsFor(info.batchId).foreach { case (operator, ids) =>
          run.query.replaceStateIds(operator, ids)
        }
      }
      if (run.query.isRealTime) takeBacklogs()
      plan(info)
    }

  // A partition with a backlog delays the watermark in the batch before its first row.
  private def takeBacklogs(): Unit = {
    val latest = Try(run.backlogs.latest).toOption
    run.locked {
      run.inputs.takeBacklogs(run.clock.at(run.query.nowMs * 1000), latest, run.backlogs.assumed)
    }
  }

  private def plan(info: BatchInfo): BatchWatermark = run.locked {
    run.timers.planned()
    run.correctClock(info.timestampMs * 1000): Unit
    val next = new BatchWatermark(run, batchEnd, info, run.clock.saved.aheadMicros)
    run.planned = Some(next)
    next
  }

  /** The time in microseconds up to which the batch that runs closes the only window of the query;
    * None as `BatchWatermark.closesUpTo`, or with several windows.
    */
  def closesUpTo: Option[Long] = run.locked {
    run.planned.filter(_ => run.timers.nextBatchOptions.length == 1).flatMap(_.closesUpTo(0))
  }

  private[run] def settingsOf(nodeId: UUID): Option[WatermarkSettings] =
    run.locked(run.inputs.settingsOf(nodeId))
}
