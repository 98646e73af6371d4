package io.eventtide.spark.operators

import org.apache.spark.sql.catalyst.expressions.{Attribute, AttributeReference}
import org.apache.spark.sql.types.BinaryType

/** Which rows are aggregated by key and frame before the shuffle, and the form in which they
  * arrive.
  */
sealed trait Preaggregation extends Serializable

object Preaggregation {

  /** The column of `PackedRows`, after the columns of the rows. */
  private[spark] def newPacks: Attribute = AttributeReference("rows", BinaryType)()

  /** No rows. */
  case object Off extends Preaggregation

  /** No rows. They arrive unsorted and are processed one by one, each with its results: in real-time
    * mode.
    */
  case object RowByRow extends Preaggregation

  /** As `RowByRow`, with a `TimeMarker` between some rows: for windows in the time of the query. */
  case object MarkedRows extends Preaggregation

  /** No rows. Rows of a key are packed into one, in the order of their arrival. */
  case object PackedRows extends Preaggregation

  /** Rows that are on time under any watermark of their key: all frames of a key in one row. Other
    * rows arrive unchanged.
    */
  case object OnTimeRows extends Preaggregation

  /** All rows, by Spark's partial aggregation: a row for each frame of a key. */
  case object AllByFrame extends Preaggregation

  /** All rows, by `PartialFrameAggregateExec`: all frames of a key in one row. */
  case object AllByKey extends Preaggregation
}
