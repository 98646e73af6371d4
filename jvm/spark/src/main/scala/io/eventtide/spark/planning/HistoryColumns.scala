package io.eventtide.spark.planning

import org.apache.spark.sql.catalyst.expressions.objects.AssertNotNull
import org.apache.spark.sql.catalyst.expressions.{Alias, Attribute, Expression}
import org.apache.spark.sql.catalyst.plans.logical.{Filter, LogicalPlan, Project, SubqueryAlias}
import org.apache.spark.sql.catalyst.types.DataTypeUtils
import org.apache.spark.sql.catalyst.util.toPrettySQL

import io.eventtide.spark.EventtideException

/** The rows of a history with the columns of a stream, by name.
  *
  * A column that the history lacks, or has with another type, is computed as the stream computes it,
  * from the columns of the history. So are the substreams and the event times that Eventtide adds.
  * A condition of the stream's rows holds for those of the history, too.
  */
private[planning] final class HistoryColumns private (history: LogicalPlan) {

  private def all(column: Attribute): Seq[Attribute] =
    history.output.filter(own => history.conf.resolver(own.name, column.name))

  private def named(column: Attribute): Option[Expression] = all(column) match {
    case Seq(own) if DataTypeUtils.sameType(own.dataType, column.dataType) =>
      Some(if (own.nullable && !column.nullable) AssertNotNull(own) else own)
    case _ => None
  }

  /** The value of a column of the stream in a row of the history. */
  private def value(column: Attribute, stream: LogicalPlan): Expression =
    named(column).orElse(computed(column, stream)).getOrElse {
      refuse(
        column,
        all(column) match {
          case Seq() => "it lacks this column"
          case Seq(own) => s"its type there is ${own.dataType.sql}"
          case _ => "it has this column more than once"
        }
      )
    }

  private def computed(column: Attribute, stream: LogicalPlan): Option[Expression] = stream match {
    case Project(columns, child) =>
      columns.find(_.exprId == column.exprId).collect {
        case Alias(expression, _) if isKnown(expression, child) =>
          expression.transformUp { case of: Attribute => value(of, child) }
        case of: Attribute if isKnown(of, child) => value(of, child)
      }
    case Filter(_, child) => computed(column, child)
    case SubqueryAlias(_, child) => computed(column, child)
    case _ => None
  }

  /** The conditions of the stream's rows on the rows of the history. */
  private def conditions(stream: LogicalPlan): Seq[Expression] = stream match {
    case Filter(condition, child) =>
      if (!isKnown(condition, child)) refuseFilter(condition)
      conditions(child) :+ condition.transformUp { case of: Attribute => value(of, child) }
    case Project(_, child) => conditions(child)
    case SubqueryAlias(_, child) => conditions(child)
    case _ => Nil
  }

  private def isKnown(expression: Expression, stream: LogicalPlan): Boolean =
    expression.references.forall(of => named(of).orElse(computed(of, stream)).nonEmpty)

  private def refuseFilter(condition: Expression): Nothing =
    throw EventtideException(
      "BACKFILL_FILTER",
      "condition" -> toPrettySQL(condition),
      "columns" -> history.output.map(_.name).mkString(", ")
    )

  private def refuse(column: Attribute, problem: String): Nothing =
    throw EventtideException(
      "BACKFILL_COLUMN",
      "column" -> column.name,
      "type" -> column.dataType.sql,
      "problem" -> problem,
      "columns" -> history.output.map(_.name).mkString(", ")
    )
}

private[planning] object HistoryColumns {

  /** The history as rows that can take the place of the stream. */
  def of(stream: LogicalPlan, history: LogicalPlan): LogicalPlan = {
    val columns = new HistoryColumns(history)
    Project(
      stream.output.map { column =>
        Alias(columns.value(column, stream), column.name)(
          exprId = column.exprId,
          qualifier = column.qualifier,
          explicitMetadata = Some(column.metadata)
        )
      },
      columns.conditions(stream).foldLeft(history)((rows, condition) => Filter(condition, rows))
    )
  }
}
