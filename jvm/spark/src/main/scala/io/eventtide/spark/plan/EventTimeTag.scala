package io.eventtide.spark.plan

import org.apache.spark.sql.catalyst.expressions.{Attribute, AttributeReference}
import org.apache.spark.sql.catalyst.plans.logical.EventTimeWatermark
import org.apache.spark.sql.types.{TimestampNTZType, TimestampType}

/** The mark by which Spark's operators find the event time among the columns of a stream.
  *
  * Spark's analysis refuses a watermark on a TIMESTAMP_NTZ column, though its operators can use one.
  * So a watermark node refers to such a column as if it were a TIMESTAMP, by the same id, and puts
  * the mark on the column as it is.
  */
private[spark] object EventTimeTag {

  def asTimestamp(column: Attribute): Attribute = column.dataType match {
    case TimestampNTZType =>
      AttributeReference(column.name, TimestampType, column.nullable, column.metadata)(
        column.exprId,
        column.qualifier
      )
    case _ => column
  }

  /** The columns with the mark on the event time, and on no other. */
  def on(columns: Seq[Attribute], eventTime: Attribute): Seq[Attribute] = {
    val column = columns.find(_.exprId == eventTime.exprId).getOrElse(eventTime)
    EventTimeWatermark.updateEventTimeColumn(columns, delayMs = 0, column)
  }
}
