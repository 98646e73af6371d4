package io.eventtide.spark.operators.watermark

import java.util.UUID

import org.apache.spark.sql.execution.streaming.operators.stateful.{
  EventTimeStats => SparkEventTimeStats
}

/** One micro-batch as a watermark node sees it, on the driver. */
private[spark] trait WatermarkBatchContext {

  /** The time that rows may have: what the machine's clock showed when the batch was made. */
  def nowMicros: Long

  /** Called by each copy of a node; adaptive execution and self-joins make several. */
  def register(nodeId: UUID, rows: SubstreamStatsAccum): Unit

  /** The watermark that the batch ends with. The first question ends the batch: Spark's tracker asks it
    * when all tasks are done and before the batch is committed.
    */
  def stats: SparkEventTimeStats
}
