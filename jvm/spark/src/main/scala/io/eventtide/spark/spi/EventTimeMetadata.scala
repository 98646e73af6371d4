package io.eventtide.spark.spi

import org.apache.spark.sql.catalyst.expressions.{Attribute, AttributeReference}
import org.apache.spark.sql.catalyst.plans.logical.EventTimeWatermark
import org.apache.spark.sql.types.{TimestampNTZType, TimestampType}

import io.eventtide.kernel.watermark.PolicySpec

/** The metadata tag by which Spark's operators find the event time column of a stream.
  *
  * Spark's analyzer refuses a watermark on a TIMESTAMP_NTZ column, though its operators support
  * such columns. So a watermark node refers to such a column as a TIMESTAMP with the same id. The
  * tag is set on the original column.
  */
private[spark] object EventTimeMetadata {

  def asTimestamp(column: Attribute): Attribute = column.dataType match {
    case TimestampNTZType =>
      AttributeReference(column.name, TimestampType, column.nullable, column.metadata)(
        column.exprId,
        column.qualifier
      )
    case _ => column
  }

  /** The columns with the tag on the event time column only.
    *
    * The tag's delay is the lag of the policy. `dropDuplicatesWithinWatermark` retains a key for
    * this time behind the watermark.
    */
  def on(columns: Seq[Attribute], eventTime: Attribute, policy: PolicySpec): Seq[Attribute] = {
    val column = columns.find(_.exprId == eventTime.exprId).getOrElse(eventTime)
    EventTimeWatermark.updateEventTimeColumn(columns, delayMs = policy.lag / 1000, column)
  }
}
