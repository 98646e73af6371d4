package io.eventtide.spark.query.run

import java.util.UUID

import org.apache.spark.sql.eventtide.BatchInfo

import io.eventtide.spark.latelog.LateLog
import io.eventtide.spark.options.{WatermarkSettings, WindowSettings}
import io.eventtide.spark.query.monitor.{QueryMetrics, WatermarkReport}

/** The watermark of one run of a streaming query: the policies of all its inputs, and their state.
  *
  * The watermark moves at two moments, both of which Spark writes down:
  *
  *   - at the end of a batch that had rows (`BatchEnd`), for the next one, by way of the commit log;
  *   - before a batch that the clock asks for (`ClockTick`), for that batch itself, by way of the offset
  *     log.
  *
  * State is a function of the ledger's last entry, of the rows of the batch and of the batch's own
  * timestamp, so that a replayed batch ends where it did before.
  */
private[spark] final class QueryWatermark private[run] (run: RunState) {
  private val recorder = new LedgerRecorder(run)
  private val restore = new Restore(run, recorder)
  private val clockTick = new ClockTick(run, restore, recorder)
  private val batchEnd = new BatchEnd(run, recorder)

  private var batch = Option.empty[BatchWatermark]
  private var isClaimed = false

  def queryId: UUID = run.query.id
  def runId: UUID = run.query.runId
  def nowMs: Long = run.query.nowMs
  def isActive: Boolean = run.query.isActive

  def nameConflict(): Unit = WriteConflict.name(run.query)

  def has(nodeId: UUID): Boolean =
    run.inputs.positions.contains(nodeId) || run.late.has(nodeId)

  private[run] def metrics: QueryMetrics = run.metrics

  /** True for the first clock that opens: it ticks for the query. */
  def claimClock(): Boolean = run.locked {
    val first = !isClaimed
    isClaimed = true
    first
  }

  /** Ends the query if the machine's clock has gone forward by itself, and a policy follows it. */
  def lookAtClock(): Unit = run.steps.look(run.query.nowMs, run.query.elapsedMs)

  /** Whether the clock asks for a batch; see `ClockTick`. */
  def tick(): Boolean = clockTick.tick()

  /** Whether the clock asks for a batch in a run that reads what there is and ends; see `ClockTick`. */
  def lastTick(nowMs: Long): Boolean = clockTick.lastTick(nowMs)

  def report: WatermarkReport = run.report

  /** The batch that Spark is planning; the same object for all nodes of the batch. */
  def planned(info: BatchInfo): BatchWatermark =
    run.locked(batch.filter(_.info == info)).getOrElse {
      run.epoch.check() // now that the batch is begun
      restore.replayIfNotDone(info.batchId)
      run.drain.check(info, run.lastBatch.map(_.batch.info))
      plan(info)
    }

  private def plan(info: BatchInfo): BatchWatermark = run.locked {
    run.timers.planned()
    run.correctClock(info.timestampMs * 1000): Unit
    val next = new BatchWatermark(this, batchEnd, info, run.clock.saved.aheadMicros)
    batch = Some(next)
    next
  }

  private[run] def settingsOf(nodeId: UUID): Option[WatermarkSettings] =
    run.locked(run.inputs.settingsOf(nodeId))

  private[run] def isCredited: Boolean = run.isCredited

  private[run] def bounds: BroadcastBounds = run.bounds

  private[run] def openLate(
      nodeId: UUID,
      batchId: Long,
      watermarkMicros: Option[Long]
  ): LateLog = run.late.open(nodeId, batchId, watermarkMicros)

  /** Whether each step of the watermark is worth a batch to a window, though it closes nothing. */
  private[run] def batchOnEveryAdvance(window: Int): Boolean =
    run.timers.batchOnEveryAdvance(window)

  private[run] def laggingKeys(window: Int): Map[Int, Seq[Array[Byte]]] =
    run.locked(run.timers.laggingKeys(window))

  /** A window by the settings that a batch goes by. */
  private[run] def settings(window: Int, batchId: Long): WindowSettings =
    run.locked(run.timers.settings(window, run.isReplayed(batchId)))
}
