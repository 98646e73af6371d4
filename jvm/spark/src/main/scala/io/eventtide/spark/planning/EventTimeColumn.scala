package io.eventtide.spark.planning

import org.apache.spark.sql.AnalysisException
import org.apache.spark.sql.catalyst.analysis.UnresolvedAttribute
import org.apache.spark.sql.catalyst.expressions.{Alias, Attribute, Expression, NamedExpression}
import org.apache.spark.sql.catalyst.plans.logical.Project
import org.apache.spark.sql.classic.DataFrame
import org.apache.spark.sql.eventtide.SparkInternals
import org.apache.spark.sql.types.{TimestampNTZType, TimestampType}

import io.eventtide.kernel.InvalidArgument
import io.eventtide.kernel.watermark.WatermarkFrom
import io.eventtide.spark.EventtideException

/** The column that a user names as the event time, and the rows with this column at the top level.
  */
private[planning] final case class EventTimeColumn(rows: DataFrame, column: Attribute)

private[planning] object EventTimeColumn {

  /** Resolves a column, or a field of a struct. A field is appended as the last column, under the
    * name that the user has written.
    */
  def named(rows: DataFrame, name: String): EventTimeColumn = resolved(rows, name) match {
    case column: Attribute => EventTimeColumn(rows, column)
    case field => derived(rows, field, name, as = name)
  }

  /** As `named`, but a field becomes a visible column, under the field's name. */
  def shown(rows: DataFrame, name: String): EventTimeColumn = resolved(rows, name) match {
    case column: Attribute => EventTimeColumn(rows, column)
    case field =>
      val plan = rows.queryExecution.analyzed
      if (plan.output.exists(column => plan.conf.resolver(column.name, field.name)))
        throw EventtideException("COLUMN_EXISTS", "column" -> field.name)
      derived(rows, field, name, as = field.name)
  }

  /** The column or field with the marks of rows, which has the type of the event time. */
  def mark(rows: DataFrame, name: String, eventTime: Attribute): Expression = {
    val value = valueOf(resolved(rows, name))
    if (value.dataType != eventTime.dataType) {
      val wrong = new InvalidArgument(
        s"column $name of ${WatermarkFrom.Name}",
        value.dataType.sql,
        s"${eventTime.dataType.sql}, as the event time is"
      )
      throw EventtideException("INVALID_ARGUMENT", "reason" -> wrong.getMessage)
    }
    value
  }

  private def resolved(rows: DataFrame, name: String): NamedExpression = {
    val plan = rows.queryExecution.analyzed
    def unknown = throw EventtideException(
      "UNKNOWN_COLUMN",
      "column" -> name,
      "available" -> rows.columns.mkString(", ")
    )
    try
      plan
        .resolve(UnresolvedAttribute.parseAttributeName(name), plan.conf.resolver)
        .getOrElse(unknown)
    catch {
      case reason: AnalysisException if NoField.exists(reason.getCondition.startsWith) => unknown
    }
  }

  private val NoField = Seq("FIELD_NOT_FOUND", "INVALID_EXTRACT")

  private def derived(
      rows: DataFrame,
      field: NamedExpression,
      name: String,
      as: String
  ): EventTimeColumn = {
    val added = Alias(valueOf(field), as)()
    checkType(added.toAttribute, name)
    val plan = rows.queryExecution.analyzed
    val widened = SparkInternals.dataFrame(rows.sparkSession, Project(plan.output :+ added, plan))
    EventTimeColumn(widened, added.toAttribute)
  }

  private def valueOf(column: NamedExpression): Expression = column match {
    case Alias(value, _) => value
    case other => other
  }

  /** Rejects a column that is not a timestamp; `name` is the user's name for it. */
  def checkType(column: Attribute, name: String): Unit = column.dataType match {
    case TimestampType | TimestampNTZType => ()
    case other => throw EventtideException("EVENT_TIME_TYPE", "column" -> name, "type" -> other.sql)
  }
}
