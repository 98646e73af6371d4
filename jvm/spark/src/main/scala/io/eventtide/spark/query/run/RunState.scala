package io.eventtide.spark.query.run

import scala.util.control.NonFatal

import org.apache.spark.broadcast.Broadcast
import org.apache.spark.sql.connector.read.streaming.SparkDataStream
import org.apache.spark.sql.eventtide.StreamExecutionAccess
import org.apache.spark.util.SerializableConfiguration

import io.eventtide.kernel.watermark.PolicyFailure
import io.eventtide.spark.EventtideException
import io.eventtide.spark.checkpoint.{BatchLedger, CheckpointStructure, RunEpoch}
import io.eventtide.spark.latelog.LateRows
import io.eventtide.spark.query.monitor.{
  BatchTrail,
  InputReport,
  MetricsSnapshot,
  NextClosing,
  Outlook,
  QueryMetrics,
  WatermarkMonitor,
  WatermarkReport
}
import io.eventtide.spark.spi.{BatchEventTimeStats, NextTimer, TickSource}

/** The state of one run of a query: its inputs, its clock and its last batch. `QueryWatermark`,
  * `BatchEnd`, `ClockTick`, `Restore` and `LedgerRecorder` change it.
  *
  * All of them run on the query's thread. Reports may be requested from any thread, so the lock
  * guards the state that reports read. The lock is never held while a checkpoint file is read or
  * written, so reports do not wait for the file system.
  *
  * @param structure
  *   the plan of the checkpoint, with the history of its windows
  * @param ownInputs
  *   the inputs with the settings of this run
  * @param policies
  *   runs the code that may call policies, which is all the code that the lock guards
  */
private[run] final class RunState(
    val query: StreamExecutionAccess,
    val structure: CheckpointStructure,
    val ownInputs: QueryInputs,
    val ledger: BatchLedger,
    val late: LateRows,
    val completeness: Completeness,
    val timers: WindowTimers,
    val monitor: WatermarkMonitor,
    val steps: ClockSteps,
    val epoch: RunEpoch,
    policies: PolicyCalls
) {
  val clock = new QueryClock
  val hold = new RestartHold(ownInputs.holdsOnRestart)
  val ticks = new TickSchedule
  val drain = new DrainedQuery(query)
  val backlogs = new SourceBacklogs(query, ownInputs.partitionInputs)
  val trail = new BatchTrail
  val bounds = new BroadcastBounds(query.session.sparkContext)

  /** Serialized once: its thousand properties take milliseconds. */
  lazy val hadoopConf: Broadcast[SerializableConfiguration] = {
    val conf = query.session.sessionState.newHadoopConf()
    query.session.sparkContext.broadcast(new SerializableConfiguration(conf))
  }

  val metrics = new QueryMetrics(query, timers.hasWindows)

  /** The inputs of this run, or in a replayed batch the inputs of the batch's first run. */
  var inputs: QueryInputs = ownInputs

  /** The batch that was planned last. */
  var planned = Option.empty[BatchWatermark]

  /** The last batch that ended in this run. */
  var lastBatch = Option.empty[LastBatch]

  /** The batch that an earlier run began and this run replays. */
  private var replayed = Option.empty[Long]
  private var isPublished = false

  def locked[A](change: => A): A = synchronized(policies(change))

  /** Marks a batch as begun by an earlier run. */
  def replay(batchId: Long): Unit = locked { replayed = Some(batchId) }

  def isReplayed(batchId: Long): Boolean = locked(replayed.contains(batchId))

  /** Whether a replayed batch uses the settings of another run. */
  def hasReplayInputs: Boolean = inputs ne ownInputs

  /** Whether the policies are credited with the time that passes. */
  def isCredited: Boolean = locked(!hold.isHolding)

  /** Fails the query if the machine's clock jumped forward, and a policy follows the clock. */
  def checkClock(): Unit = steps.check(query.nowMs, query.elapsedMs)

  def isClock(source: SparkDataStream): Boolean = source.isInstanceOf[TickSource]

  /** Compares the query's clock with the machine's and returns the time by the query's clock.
    * If the machine's clock went back, measured durations are kept. The caller holds the lock.
    */
  def correctClock(nowMicros: Long): Long = {
    clock.correct(nowMicros).foreach { by =>
      inputs.correct(clock.saved.aheadMicros)
      ticks.reschedule()
      guarded(monitor.clockSetBack(by, nowMicros))
    }
    clock.at(nowMicros)
  }

  /** Publishes the query's metrics once it has begun, before its first batch ends. */
  def publishFirst(): Unit = if (!isPublished) guarded(publish())

  def publish(): Unit = synchronized {
    isPublished = true
    val openKeys = timers.openKeys(nextDueSoFar)
    metrics.publish(MetricsSnapshot(report, openKeys, ledger.bytes))
  }

  // The batch that still runs, of which the tasks report in real-time mode only.
  private def running: Option[BatchWatermark] =
    planned.filterNot(batch => lastBatch.exists(_.batch eq batch))

  private def nextDueSoFar = running.fold(Map.empty[Int, Map[Int, NextTimer]])(_.nextDueSoFar)

  /** Catches failures of logs and metrics, which must not stop the query. */
  def guarded(report: => Unit): Unit =
    try report
    catch { case NonFatal(failure) => monitor.failed(failure) }

  /** The report on the last batch that ended, or on the initial state before the first batch. */
  def report: WatermarkReport = locked {
    val inputs = inputsSoFar
    WatermarkReport(
      lastBatch.fold(-1L)(_.batchId),
      lastBatch.fold(query.nowMs * 1000)(_.batch.nowMicros),
      inputs.ideal,
      inputs.emitted,
      hold.isHolding && (inputs eq this.inputs),
      late.countsWith(running.toSeq.flatMap(_.lateLogs.values)),
      inputs.report(rowsOfLast),
      clock.saved,
      outlook(inputs)
    )
  }

  /** The substreams of an input whose names have a part, after the last batch that ended. */
  def find(position: Int, named: String): Option[InputReport] = locked {
    inputsSoFar.find(position, rowsOfLast, named)
  }

  private def rowsOfLast = lastBatch.fold(Map.empty[Int, BatchEventTimeStats])(_.rows)

  // In real-time mode, the tasks of the running batch have the policies. Their reports are as old as
  // the last heartbeat, but the clock has gone on.
  private def inputsSoFar: QueryInputs = running.flatMap(_.inputStateSoFar).fold(inputs) { state =>
    val now = clock.at(query.nowMs * 1000)
    val reported = QueryInputs.of(inputs.settingsById, inputs.curveRows)
    reported.resume(state, clock.saved.aheadMicros)
    reported.emittedAt(now).foreach(reported.raise(_, now))
    reported
  }

  // The tasks have closed it since they have reported it.
  private def isClosed(window: NextClosing, reported: QueryInputs): Boolean =
    !(reported eq inputs) && !window.settings.hasOwnTime &&
      reported.emitted.exists(_ >= window.watermark)

  // A custom policy that fails here has ended its query, or will; its last report stays readable.
  private def outlook(inputs: QueryInputs): Outlook = {
    val now = clock.at(query.nowMs * 1000)
    val unknown = Outlook(Some(now), nextMove = None, windows = Nil, timers.scopes)
    try
      unknown.copy(
        nextMove = inputs.nextDue(0),
        windows = timers.closing(inputs.nextDue, nextDueSoFar).filterNot(isClosed(_, inputs))
      )
    catch { case _: PolicyFailure | _: EventtideException => unknown }
  }
}

/** The last batch that ended, for reports. */
private[run] final case class LastBatch(
    batch: BatchWatermark,
    rows: Map[Int, BatchEventTimeStats],
    readNothing: Boolean
) {
  def batchId: Long = batch.info.batchId
}
