package io.eventtide.spark.query.run

import java.util.UUID

import scala.collection.mutable

import org.apache.spark.broadcast.Broadcast
import org.apache.spark.sql.eventtide.BatchInfo
import org.apache.spark.sql.execution.streaming.operators.stateful.{
  EventTimeStats => SparkEventTimeStats
}
import org.apache.spark.util.SerializableConfiguration

import io.eventtide.kernel.completeness.WindowShares
import io.eventtide.kernel.time.Clamped
import io.eventtide.spark.checkpoint.{EndOfInput, StatePartitions}
import io.eventtide.spark.latelog.LateLog
import io.eventtide.spark.operators.WatermarkStart
import io.eventtide.spark.operators.watermark.{SubstreamStatsAccum, WatermarkBatchContext}
import io.eventtide.spark.options.{AggregateHistory, WindowSettings}
import io.eventtide.spark.spi.{
  BatchEventTimeStats,
  NextTimer,
  PartitionAccum,
  ReachedTime,
  TaskInputState
}

/** The driver-side view of one micro-batch for the query's watermark nodes.
  *
  * @param aheadMicros
  *   the offset of the query's clock from the machine's clock
  */
final class BatchWatermark private[run] (
    run: RunState,
    end: BatchEnd,
    val info: BatchInfo,
    val aheadMicros: Long
) extends WatermarkBatchContext {
  private val registered = mutable.ArrayBuffer.empty[(UUID, SubstreamStatsAccum)]
  private val late = mutable.HashMap.empty[UUID, LateLog]

  /** Whether the policies are credited with the time that has passed. */
  def isCredited: Boolean = run.isCredited

  /** Whether a window needs a batch for every advance of the watermark, even if it closes nothing.
    */
  def batchOnEveryAdvance(window: Int): Boolean = run.timers.batchOnEveryAdvance(window)

  /** The settings that this batch uses for the window at a position in the plan. */
  def settings(window: Int): WindowSettings =
    run.locked(run.timers.settings(window, run.isReplayed(info.batchId)))

  /** The aggregates so far of the window at a position; None if they have never changed. */
  def aggregateHistory(window: Int): Option[AggregateHistory] =
    AggregateHistory.of(run.structure.windows(window))

  /** The location of the windows' state, if it has been repartitioned. */
  def statePartitions: Option[StatePartitions] = run.epoch.statePartitions

  def hadoopConf: Broadcast[SerializableConfiguration] = run.hadoopConf

  override def isRealTime: Boolean = run.query.isRealTime

  // Nothing is known of the first rows. In real-time mode the batch lasts for minutes.
  override val reached: Option[ReachedTime] = run.locked {
    val counts = run.inputs.countDisorder && !(isRealTime && run.timers.hasWindows)
    Some(run.inputs.judging).filter(by => counts && by != ReachedTime.None)
  }

  /** Whether rows are counted by frame. In real-time mode, windows close within the batch. */
  def countsFrames: Boolean = run.completeness.isOn && !isRealTime

  /** The expected shares of the window at a position that closes in this batch; None if they are not
    * counted.
    */
  def shares(window: Int): Option[WindowShares] = run.locked {
    val closing = Option.when(watermarkMicros > 0)(watermarkMicros)
    run.completeness.sharesOf(window, run.inputs.reachedBy(closing, clockMicros))
  }

  /** The lag that the query has learnt before the batch; None without a late target. */
  def learntLag: Option[Long] = run.locked(run.inputs.learntLag)

  override def nowMicros: Long = info.timestampMs * 1000

  /** The batch's time by the query's clock, which measures durations. */
  def clockMicros: Long = Clamped.add(nowMicros, aheadMicros)

  /** The watermark in the offset log: the lowest watermark that the batch can have. */
  def watermarkMicros: Long = info.watermarkMs * 1000

  /** The time up to which this batch closes the window at a position; None while there is no
    * watermark, and for a window that the watermark of the query does not close.
    */
  private[run] def closesUpTo(window: Int): Option[Long] = {
    val of = settings(window)
    Option.when(!of.isJudgedByKey && watermarkMicros > 0) {
      of.spec.grid.start(of.onTime.closed(watermarkMicros))
    }
  }

  /** Whether every window closes in this batch: the last batch of a drained query. */
  def closesAll: Boolean = EndOfInput.isAtEnd(info.watermarkMs)

  override def register(nodeId: UUID, rows: SubstreamStatsAccum): Unit = synchronized {
    registered += nodeId -> rows
  }

  /** The late log of a node; copies of the node share one log.
    *
    * @param watermarkMicros
    *   the watermark below which the node's rows are late in this batch; None while there is none
    */
  def lateLog(nodeId: UUID, watermarkMicros: Option[Long]): LateLog = synchronized {
    late.getOrElseUpdate(nodeId, run.late.open(nodeId, info.batchId, watermarkMicros))
  }

  private val due = mutable.ArrayBuffer.empty[(Int, PartitionAccum[NextTimer])]
  private val bounds = mutable.ArrayBuffer.empty[(Int, PartitionAccum[Array[Long]])]
  private val closing = mutable.HashMap.empty[Int, Long]

  /** Registers one copy of a window.
    *
    * @param closesUpTo
    *   the watermark that closes it in this batch; None while there is none
    * @param due
    *   the reports of its next timers; `bounds` has those of its keys' bounds
    */
  def register(
      window: Int,
      closesUpTo: Option[Long],
      due: PartitionAccum[NextTimer],
      bounds: PartitionAccum[Array[Long]]
  ): Unit = synchronized {
    this.due += window -> due
    this.bounds += window -> bounds
    closing ++= closesUpTo.map(window -> _)
  }

  /** The watermark that has closed the window at a position; None if none did. */
  private[run] def closedBy(window: Int): Option[Long] = synchronized(closing.get(window))

  private val taskInputs = mutable.ArrayBuffer.empty[PartitionAccum[TaskInputState]]

  /** Registers the accumulator with which the tasks of a window report the policies' state. */
  def register(inputs: PartitionAccum[TaskInputState]): Unit = synchronized {
    taskInputs += inputs
  }

  /** The query's watermark before the batch, for tasks in which it moves. */
  def start: WatermarkStart = run.locked(TaskInputs.start(run.inputs, aheadMicros))

  def inputPosition(nodeId: UUID): Int = run.locked(run.inputs.positions(nodeId))

  /** The policies' state in the tasks after the batch; None if the watermark did not move in tasks.
    */
  private[run] def inputState: Option[TaskInputState] = synchronized {
    TaskInputs.latest(taskInputs.toSeq.map(_.value))
  }

  /** As `inputState`, also of tasks that still run. */
  private[run] def inputStateSoFar: Option[TaskInputState] = synchronized {
    TaskInputs.latest(taskInputs.toSeq.map(_.soFar))
  }

  /** The lateness bounds of a window's keys before this batch, broadcast to its tasks. */
  def broadcastBounds(window: Int): Broadcast[Array[Long]] = run.bounds.send(window)

  /** The keys of a window that were far behind before this batch, by partition. */
  def laggingKeys(window: Int): Map[Int, Seq[Array[Byte]]] =
    run.locked(run.timers.laggingKeys(window))

  /** The reported lateness bounds after this batch, by window and by partition. */
  private[query] def boundsReported: Map[Int, Iterable[(Int, Array[Long])]] = synchronized {
    bounds.toSeq.groupMap(_._1)(_._2.value).map { case (window, reports) =>
      window -> reports.flatten
    }
  }

  /** The next timers, by the window's position in the plan and by partition. The report of the last
    * copy that ran counts.
    */
  private[query] def nextDue: Map[Int, Map[Int, NextTimer]] = synchronized {
    due.map { case (window, reports) => window -> reports.value }.filter(_._2.nonEmpty).toMap
  }

  /** The next timers so far, as `nextDue`, also of tasks that still run. */
  private[query] def nextDueSoFar: Map[Int, Map[Int, NextTimer]] = synchronized {
    due.map { case (window, reports) => window -> reports.soFar }.filter(_._2.nonEmpty).toMap
  }

  /** Takes the value of an accumulator of a task that still runs; whether the batch has it. */
  private[run] def hear(accumulator: Long, value: Any): Boolean = synchronized {
    val known = due.iterator.map(_._2) ++ late.valuesIterator.map(_.reports) ++ taskInputs
    val found = known.find(_.id == accumulator)
    found.foreach(_.hear(value))
    found.isDefined
  }

  /** Whether no task has reported anything. */
  private[query] def hasNoReports: Boolean = synchronized {
    registered.forall(_._2.isZero) && due.forall(_._2.isZero)
  }

  /** The lowest event time of the rows on time; None if no row was checked, or all were late. */
  private[query] def lowestOnTime: Option[Long] = synchronized {
    val reports = late.valuesIterator.flatMap(_.reports.value.values)
    reports.map(_.lowest).filter(_ < Long.MaxValue).minOption
  }

  private[query] def lateLogs: Map[UUID, LateLog] = synchronized(late.toMap)

  override def stats: SparkEventTimeStats = hook.stats

  private val hook = new BatchEndHook(this, end)

  /** The event-time statistics that the tasks reported, by the input's position in the plan. */
  private[query] def rows(position: UUID => Int): Map[Int, BatchEventTimeStats] = synchronized {
    registered.toSeq.groupMap(node => position(node._1))(_._2).map { case (input, accumulators) =>
      input -> BatchEventTimeStats.of(accumulators.flatMap(_.reports), reached.isDefined)
    }
  }
}
