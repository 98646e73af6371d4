package io.eventtide.spark.planning

import org.apache.spark.sql.catalyst.expressions.aggregate.AggregateExpression
import org.apache.spark.sql.catalyst.expressions.{Alias, Attribute, AttributeMap}
import org.apache.spark.sql.catalyst.plans.logical.{Aggregate, Project}
import org.apache.spark.sql.classic.DataFrame
import org.apache.spark.sql.types.BooleanType
import org.apache.spark.sql.{AnalysisException, Column}

import io.eventtide.spark.EventtideException

/** A condition on the results of a window, as a column of the aggregation that makes them. */
private[spark] object WindowCondition {

  def apply(
      stream: DataFrame,
      keys: Seq[Column],
      aggregates: Seq[Column],
      when: Column
  ): Alias = {
    val grouped = stream.groupBy(keys: _*).agg(aggregates.head, aggregates.tail: _*)
    val columns = grouped.queryExecution.analyzed.collectFirst { case aggregate: Aggregate =>
      aggregate.aggregateExpressions
    }
    val values = columns.get.collect {
      case alias: Alias if alias.exists(_.isInstanceOf[AggregateExpression]) =>
        alias.toAttribute -> alias.child
    }
    val over = AttributeMap(values)
    val condition = resolved(grouped, when).child.transformUp { case column: Attribute =>
      over.getOrElse(column, refused(grouped, when, s"${column.name} is a key"))
    }
    WindowValidator.requireDeterministic(condition, when.toString)
    Alias(condition, "_eventtide_when")()
  }

  private def resolved(grouped: DataFrame, when: Column): Alias = {
    val named = when.as("_eventtide_when")
    val plan =
      try grouped.select(named).queryExecution.analyzed
      catch {
        case reason: AnalysisException => refused(grouped, when, reason.getMessage)
      }
    plan match {
      case Project(Seq(alias: Alias), _) if alias.dataType == BooleanType => alias
      case _ => refused(grouped, when, "it is not a condition over one row of results")
    }
  }

  private def refused(grouped: DataFrame, when: Column, reason: String): Nothing =
    throw EventtideException(
      "CONDITION_UNRESOLVED",
      "condition" -> when,
      "reason" -> reason.linesIterator.next(),
      "available" -> grouped.columns.mkString(", ")
    )
}
