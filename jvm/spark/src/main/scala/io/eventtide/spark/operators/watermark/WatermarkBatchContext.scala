package io.eventtide.spark.operators.watermark

import java.util.UUID

import org.apache.spark.sql.execution.streaming.operators.stateful.{
  EventTimeStats => SparkEventTimeStats
}

import io.eventtide.spark.spi.ReachedTime

/** One micro-batch from the view of a watermark node, on the driver. */
private[spark] trait WatermarkBatchContext {

  /** The batch's timestamp, by the machine's clock when the batch was created; the limit for future
    * rows is relative to it.
    */
  def nowMicros: Long

  /** The event time that the query has reached before the batch; None if disorder is not counted, as in the first batch. */
  def reached: Option[ReachedTime]

  /** Whether the batch runs in real-time mode: it lasts for minutes. */
  def isRealTime: Boolean

  /** Called by each copy of a node; adaptive execution and self-joins make several. */
  def register(nodeId: UUID, rows: SubstreamStatsAccum): Unit

  /** The watermark at the end of the batch. The first call ends the batch: Spark's tracker makes it
    * after all tasks and before the commit.
    */
  def stats: SparkEventTimeStats
}
