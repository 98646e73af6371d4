package io.eventtide.spark.query

import java.util.UUID

import org.apache.spark.SparkContext
import org.apache.spark.broadcast.Broadcast
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.classic.SparkSession
import org.apache.spark.sql.eventtide.StreamExecutionAccess
import org.apache.spark.sql.execution.streaming.operators.stateful.StatefulOperatorStateInfo

import io.eventtide.spark.exec.{LatenessBoundsAccum, NextTimerAccum, LatenessBounds}
import io.eventtide.spark.late.LateLog
import io.eventtide.spark.options.WindowSettings
import io.eventtide.spark.plan.WindowAggregate

/** One micro-batch as one window of the query sees it, on the driver.
  *
  * The watermarks are Spark's own for the operator, since one above another stateful operator has
  * others than the query; they are known when the batch is executed, not when it is planned.
  */
private[spark] final class WindowBatchContext private (
    spark: SparkContext,
    query: StreamExecutionAccess,
    watermark: BatchWatermark,
    nodeId: UUID,
    position: Int
) {
  private val operatorId = WindowBatchContext.FirstOperatorId + position

  /** The window as the batch was begun with it. */
  val settings: WindowSettings = watermark.settings(position)

  /** Whether rows after it are late by each step of the watermark. */
  def countsEveryStep: Boolean = watermark.countsEveryStep(position)

  /** The batch's timestamp, by which a row from the future is known. */
  def nowMicros: Long = watermark.nowMicros

  /** The batch's time by the query's clock, by which durations are measured. */
  def clockMicros: Long = watermark.clockMicros

  /** How far that is ahead of the batch's timestamp. */
  def aheadMicros: Long = watermark.aheadMicros

  /** Whether the time that has passed counts for policies. */
  def isCredited: Boolean = watermark.isCredited

  /** Whether every window closes in this batch. */
  def endsAll: Boolean = watermark.endsAll

  /** Where the tasks put late rows. */
  def lateLog: LateLog = watermark.lateLog(nodeId, lateMicros)

  /** Where the tasks say what is due next, and which bounds their keys have. */
  def watch(due: NextTimerAccum, bounds: LatenessBoundsAccum): Unit = watermark.watch(position, due, bounds)

  val batchId: Long = query.batch.batchId

  val stateInfo: StatefulOperatorStateInfo = query.stateInfo(operatorId)

  /** The watermark by which rows are late, in microseconds: what was closed before this batch. */
  def lateMicros: Option[Long] = WindowBatchContext.known(query.lateWatermarkMs(operatorId))

  /** From which times on rows of keys are on time, as `LatenessBounds`; asked when the batch is executed. */
  lazy val bounds: Broadcast[Array[Long]] =
    if (!settings.hasOwnTime) ofAll(lateMicros.fold(Long.MinValue)(settings.spec.lateBelow))
    else if (batchId == 0) ofAll(Long.MinValue) // no key has a watermark
    else watermark.sentBounds(position)

  private def ofAll(bound: Long) = spark.broadcast(LatenessBounds.all(bound).words)

  /** The keys that were far behind after the batch before, by partition. */
  def lagging: Map[Int, Seq[Array[Byte]]] = watermark.laggingKeys(position)

  /** The watermark by which windows close in this batch, in microseconds. Spark is asked while the batch
    * is executed: when the clock has raised the next one, it knows this one no more.
    */
  lazy val closingMicros: Option[Long] = WindowBatchContext.known(query.closingWatermarkMs(operatorId))
}

private[spark] object WindowBatchContext {

  /** Spark numbers its own operators from 0; ours must never be among them. */
  val FirstOperatorId = 10000L

  /** Spark's watermark in microseconds; it has no other word than 0 for "none yet". */
  def known(ms: Long): Option[Long] = Option.when(ms > 0)(ms * 1000)

  /** The batch that a window is planned for, on the query's thread; None elsewhere. */
  def of(session: SparkSession, nodeId: UUID): Option[WindowBatchContext] =
    for {
      query <- StreamExecutionAccess.current(session)
      watermark <- QueryWatermarks.plannedBatch(query, nodeId)
    } yield {
      val position = windows(query.analyzedPlan).indexWhere(_.nodeId == nodeId)
      new WindowBatchContext(session.sparkContext, query, watermark, nodeId, position)
    }

  /** The windows of a plan, once each, in an order that a restart keeps. */
  def windows(plan: LogicalPlan): Seq[WindowAggregate] =
    plan.collect { case window: WindowAggregate => window }.distinctBy(_.nodeId)
}
