package io.eventtide.spark.plan

import org.apache.spark.sql.catalyst.analysis.UnresolvedAttribute
import org.apache.spark.sql.catalyst.expressions.Attribute
import org.apache.spark.sql.classic.DataFrame
import org.apache.spark.sql.types.{TimestampNTZType, TimestampType}

import io.eventtide.spark.EventtideException

/** Finds the column that a user names as the event time. */
private[plan] object TimeColumn {

  def named(rows: DataFrame, name: String): Attribute = {
    val plan = rows.queryExecution.analyzed
    plan
      .resolve(UnresolvedAttribute.parseAttributeName(name), plan.conf.resolver)
      .collect { case top: Attribute => top }
      .getOrElse {
        throw EventtideException(
          "UNKNOWN_COLUMN",
          "column" -> name,
          "available" -> rows.columns.mkString(", ")
        )
      }
  }

  /** Refuses a column that is no time; `name` is what the user calls it. */
  def checkType(column: Attribute, name: String): Unit = column.dataType match {
    case TimestampType | TimestampNTZType => ()
    case other => throw EventtideException("EVENT_TIME_TYPE", "column" -> name, "type" -> other.sql)
  }
}
