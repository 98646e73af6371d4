package io.eventtide.spark.query.run

import java.util.UUID

import org.apache.hadoop.fs.Path
import org.apache.spark.SparkContext
import org.apache.spark.broadcast.Broadcast
import org.apache.spark.sql.classic.SparkSession
import org.apache.spark.sql.eventtide.StreamExecutionAccess
import org.apache.spark.sql.execution.streaming.operators.stateful.StatefulOperatorStateInfo
import org.apache.spark.util.SerializableConfiguration

import io.eventtide.spark.latelog.LateLog
import io.eventtide.spark.operators.{
  BatchTime,
  LatenessBounds,
  TaskClock,
  TaskWatermark,
  WatermarkStart,
  WindowBatchContext
}
import io.eventtide.spark.options.{AggregateHistory, WindowSettings}
import io.eventtide.spark.spi.{NextTimer, PartitionAccum, PlanNodes, ReachedTime, TaskInputState}

/** The driver-side view of one micro-batch for one window of the query.
  *
  * The watermarks are Spark's watermarks for the operator, because an operator above another
  * stateful operator has different watermarks than the query. They are known when the batch is
  * executed, not when it is planned.
  */
private[spark] final class QueryWindowBatch private (
    spark: SparkContext,
    query: StreamExecutionAccess,
    watermark: BatchWatermark,
    nodeId: UUID,
    position: Int
) extends WindowBatchContext {
  private val operatorId = WindowBatchContext.FirstOperatorId + position

  override val settings: WindowSettings = watermark.settings(position)

  override def aggregateHistory: Option[AggregateHistory] = watermark.aggregateHistory(position)

  override def batchOnEveryAdvance: Boolean = watermark.batchOnEveryAdvance(position)

  override def nowMicros: Long = watermark.nowMicros

  override def time: BatchTime = BatchTime(
    if (isRealTime) TaskClock.Running(watermark.aheadMicros, watermark.isCredited)
    else TaskClock.OfBatch(watermark.clockMicros, watermark.isCredited),
    watermark.aheadMicros,
    TaskWatermark.OfBatch(lateMicros, closingMicros),
    Some(lateLog),
    watermark.closesAll,
    watermark.learntLag
  )

  override lazy val watermarkStart: Option[WatermarkStart] =
    Option.when(isRealTime && !settings.hasOwnTime)(watermark.start)

  override def inputPosition(nodeId: UUID): Int = watermark.inputPosition(nodeId)

  override def register(inputs: PartitionAccum[TaskInputState]): Unit =
    watermark.register(inputs)

  override def isRealTime: Boolean = query.isRealTime

  override def lateLog: LateLog = watermark.lateLog(nodeId, lateMicros)

  override def register(
      due: PartitionAccum[NextTimer],
      bounds: PartitionAccum[Array[Long]]
  ): Unit = watermark.register(position, closingMicros, due, bounds)

  override val batchId: Long = query.batch.batchId

  override val stateInfo: StatefulOperatorStateInfo = {
    val info = query.stateInfo(operatorId)
    watermark.statePartitions.fold(info)(state => info.copy(numPartitions = state.count))
  }

  override def stateRoot: String = watermark.statePartitions.fold(stateInfo.checkpointLocation) {
    _.path(new Path(query.checkpointRoot)).toString
  }

  override def hadoopConf: Broadcast[SerializableConfiguration] = watermark.hadoopConf

  override def lateMicros: Option[Long] =
    WindowBatchContext.known(query.lateWatermarkMs(operatorId))

  override def reached: Option[ReachedTime] = watermark.reached

  override def countsFrames: Boolean = watermark.countsFrames

  override lazy val bounds: Broadcast[Array[Long]] =
    if (!settings.hasOwnTime) broadcastAll(lateMicros.fold(Long.MinValue)(settings.spec.lateBelow))
    else if (batchId == 0) broadcastAll(Long.MinValue) // no key has a watermark yet
    else watermark.broadcastBounds(position)

  private def broadcastAll(bound: Long) = spark.broadcast(LatenessBounds.all(bound).words)

  override def lagging: Map[Int, Seq[Array[Byte]]] = watermark.laggingKeys(position)

  override lazy val closingMicros: Option[Long] =
    WindowBatchContext.known(query.closingWatermarkMs(operatorId))
}

private[spark] object QueryWindowBatch {

  /** The batch that a window is planned for, on the query's thread; None on other threads. */
  def of(session: SparkSession, nodeId: UUID): Option[WindowBatchContext] =
    for {
      query <- StreamExecutionAccess.current(session)
      watermark <- QueryWatermarks.plannedBatch(query, nodeId)
    } yield {
      val position = PlanNodes.windows(query.analyzedPlan).indexWhere(_.nodeId == nodeId)
      new QueryWindowBatch(session.sparkContext, query, watermark, nodeId, position)
    }
}
