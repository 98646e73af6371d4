package io.eventtide.spark.operators

import java.util.UUID

import org.apache.spark.broadcast.Broadcast
import org.apache.spark.sql.execution.streaming.operators.stateful.StatefulOperatorStateInfo
import org.apache.spark.util.SerializableConfiguration

import io.eventtide.spark.latelog.LateLog
import io.eventtide.spark.options.{AggregateHistory, WindowSettings}
import io.eventtide.spark.spi.{NextTimer, PartitionAccum, ReachedTime, TaskInputState}

/** One micro-batch from the view of one window of the query, on the driver. */
private[spark] trait WindowBatchContext {

  /** The settings of the window as of the start of the batch. */
  def settings: WindowSettings

  /** The aggregates of the window so far; None if they have never changed. */
  def aggregateHistory: Option[AggregateHistory]

  /** Whether every advance of the watermark makes later rows late, even if no window closes. */
  def batchOnEveryAdvance: Boolean

  /** The batch's timestamp; the limit for future rows is relative to it. */
  def nowMicros: Long

  /** The timing of the batch; read when the batch is executed, as `closingMicros`. */
  def time: BatchTime

  /** The log to which the tasks add late rows. */
  def lateLog: LateLog

  /** Registers the accumulators with which the tasks report their next timers and their keys'
    * bounds.
    */
  def register(due: PartitionAccum[NextTimer], bounds: PartitionAccum[Array[Long]]): Unit

  def batchId: Long

  /** Whether the batch runs in real-time mode: it lasts for minutes. */
  def isRealTime: Boolean

  /** The query's watermark before the batch, if it moves within the batch: in real-time mode, for
    * windows in the time of the query.
    */
  def watermarkStart: Option[WatermarkStart]

  /** The position of an input in the query's plan, by the id of its watermark node. */
  def inputPosition(nodeId: UUID): Int

  /** Registers the accumulator with which the tasks report the policies' state. */
  def register(inputs: PartitionAccum[TaskInputState]): Unit

  def stateInfo: StatefulOperatorStateInfo

  /** The folder of the state: the folder of `stateInfo`, or another folder after a repartitioning.
    */
  def stateRoot: String

  /** The configuration of Hadoop with which the tasks open the state, the same for all batches of a
    * run.
    */
  def hadoopConf: Broadcast[SerializableConfiguration]

  /** The watermark below which rows are late, in microseconds: windows up to it closed before this
    * batch.
    */
  def lateMicros: Option[Long]

  /** The event time that the query has reached before the batch; None if disorder is not counted, as
    * in the first batch.
    */
  def reached: Option[ReachedTime]

  /** Whether rows are counted by frame. */
  def countsFrames: Boolean

  /** The times from which on rows of keys are on time, as `LatenessBounds`; read when the batch is
    * executed.
    */
  def bounds: Broadcast[Array[Long]]

  /** The lagging keys after the previous batch, by partition. */
  def lagging: Map[Int, Seq[Array[Byte]]]

  /** The watermark up to which windows close in this batch, in microseconds. It is read from Spark
    * while the batch is executed, because Spark drops it once the clock has raised the next
    * watermark.
    */
  def closingMicros: Option[Long]
}

private[spark] object WindowBatchContext {

  /** Spark numbers its operators from 0; the ids of Eventtide operators never overlap with them. */
  val FirstOperatorId = 10000L

  /** Spark's watermark in microseconds; None for 0, which Spark uses for "no watermark yet". */
  def known(ms: Long): Option[Long] = Option.when(ms > 0)(ms * 1000)
}
