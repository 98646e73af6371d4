package io.eventtide.spark.operators

/** Which rows are aggregated by key and frame before the shuffle, and how they arrive.
  *
  * @param isPacked
  *   whether an aggregated row has all frames of a key as `PackedFrames`; otherwise it has one frame
  */
sealed abstract class Preaggregation(val isPacked: Boolean) extends Serializable

object Preaggregation {

  /** No rows. */
  case object Off extends Preaggregation(isPacked = false)

  /** Rows that are on time whatever the watermark of their key; other rows arrive as they are. */
  case object OnTimeRows extends Preaggregation(isPacked = true)

  /** All rows, by Spark's partial aggregation. */
  case object AllByFrame extends Preaggregation(isPacked = false)

  /** All rows, by `PartialFrameAggregateExec`. */
  case object AllByKey extends Preaggregation(isPacked = true)
}
