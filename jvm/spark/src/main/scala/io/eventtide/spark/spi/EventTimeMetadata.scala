package io.eventtide.spark.spi

import org.apache.spark.sql.catalyst.expressions.{Attribute, AttributeReference}
import org.apache.spark.sql.catalyst.plans.logical.EventTimeWatermark
import org.apache.spark.sql.types.{TimestampNTZType, TimestampType}

import io.eventtide.kernel.watermark.PolicySpec

/** The mark by which Spark's operators find the event time among the columns of a stream.
  *
  * Spark's analysis refuses a watermark on a TIMESTAMP_NTZ column, though its operators can use one.
  * So a watermark node refers to such a column as if it were a TIMESTAMP, by the same id, and puts
  * the mark on the column as it is.
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

  /** The columns with the mark on the event time, and on no other.
    *
    * It says the lag of the policy: for so long behind the watermark `dropDuplicatesWithinWatermark`
    * knows a key.
    */
  def on(columns: Seq[Attribute], eventTime: Attribute, policy: PolicySpec): Seq[Attribute] = {
    val column = columns.find(_.exprId == eventTime.exprId).getOrElse(eventTime)
    EventTimeWatermark.updateEventTimeColumn(columns, delayMs = policy.lag / 1000, column)
  }
}
