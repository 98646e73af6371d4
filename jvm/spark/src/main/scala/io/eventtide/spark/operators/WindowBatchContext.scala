package io.eventtide.spark.operators

import org.apache.spark.broadcast.Broadcast
import org.apache.spark.sql.execution.streaming.operators.stateful.StatefulOperatorStateInfo

import io.eventtide.spark.latelog.LateLog
import io.eventtide.spark.options.WindowSettings
import io.eventtide.spark.spi.NextTimerAccum

/** One micro-batch as one window of the query sees it, on the driver. */
private[spark] trait WindowBatchContext {

  /** The window as the batch was begun with it. */
  def settings: WindowSettings

  /** Whether rows after it are late by each step of the watermark. */
  def batchOnEveryAdvance: Boolean

  /** The batch's timestamp, by which a row from the future is known. */
  def nowMicros: Long

  /** The batch's time by the query's clock, by which durations are measured. */
  def clockMicros: Long

  /** How far that is ahead of the batch's timestamp. */
  def aheadMicros: Long

  /** Whether the time that has passed counts for policies. */
  def isCredited: Boolean

  /** Whether every window closes in this batch. */
  def closesAll: Boolean

  /** Where the tasks put late rows. */
  def lateLog: LateLog

  /** Where the tasks say what is due next, and which bounds their keys have. */
  def register(due: NextTimerAccum, bounds: LatenessBoundsAccum): Unit

  def batchId: Long

  def stateInfo: StatefulOperatorStateInfo

  /** The watermark by which rows are late, in microseconds: what was closed before this batch. */
  def lateMicros: Option[Long]

  /** From which times on rows of keys are on time, as `LatenessBounds`; asked when the batch is executed. */
  def bounds: Broadcast[Array[Long]]

  /** The keys that were far behind after the batch before, by partition. */
  def lagging: Map[Int, Seq[Array[Byte]]]

  /** The watermark by which windows close in this batch, in microseconds. Spark is asked while the batch
    * is executed: when the clock has raised the next one, it knows this one no more.
    */
  def closingMicros: Option[Long]
}

private[spark] object WindowBatchContext {

  /** Spark numbers its own operators from 0; ours must never be among them. */
  val FirstOperatorId = 10000L

  /** Spark's watermark in microseconds; it has no other word than 0 for "none yet". */
  def known(ms: Long): Option[Long] = Option.when(ms > 0)(ms * 1000)
}
