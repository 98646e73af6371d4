package io.eventtide.spark.planning

import org.apache.spark.sql.catalyst.expressions.{
  Alias,
  Attribute,
  CollationKey,
  Expression,
  NamedExpression,
  RowOrdering
}
import org.apache.spark.sql.catalyst.plans.logical.Aggregate
import org.apache.spark.sql.catalyst.util.toPrettySQL
import org.apache.spark.sql.classic.DataFrame
import org.apache.spark.sql.{AnalysisException, Column}

import io.eventtide.spark.EventtideException

/** An aggregation with the columns that identify groups of keys. The keys of a group share one
  * watermark.
  *
  * The columns are attributes among the grouping keys, so that they can be found again after Spark
  * has optimized the aggregation.
  *
  * @param computed
  *   the columns to compute below the aggregation
  */
private[planning] final case class WatermarkGroupColumns(
    aggregate: Aggregate,
    computed: Seq[Alias],
    columns: Seq[Attribute]
)

private[planning] object WatermarkGroupColumns {

  /** @param aggregate
    *   the aggregation of `stream` by the keys
    * @param asked
    *   the keys that identify groups, as the user wrote them
    */
  def apply(stream: DataFrame, aggregate: Aggregate, asked: Seq[Column]): WatermarkGroupColumns = {
    def refuse(reason: String): Nothing = throw EventtideException(
      "GROUP_NOT_OF_KEYS",
      "columns" -> asked.mkString(", "),
      "reason" -> reason,
      "keys" -> aggregate.groupingExpressions.map(toPrettySQL(_)).mkString(", ")
    )
    val groups = resolved(stream, asked, refuse).map { value =>
      if (!RowOrdering.isOrderable(value.dataType)) refuse(s"${toPrettySQL(value)} has no order")
      aggregate.groupingExpressions
        .find(shownBy(_).semanticEquals(value))
        .getOrElse(refuse(s"${toPrettySQL(value)} is not a key of the window"))
    }
    computedBelow(aggregate, groups.distinctBy(_.canonicalized))
  }

  private def resolved(
      stream: DataFrame,
      asked: Seq[Column],
      refuse: String => Nothing
  ): Seq[Expression] = {
    val plan =
      try stream.groupBy(asked: _*).count().queryExecution.analyzed
      catch { case reason: AnalysisException => refuse(reason.getMessage.linesIterator.next()) }
    plan.collectFirst { case Aggregate(values, _, _, _) => values }.getOrElse(Nil)
  }

  private def shownBy(key: Expression): Expression = key match {
    case CollationKey(text) => text
    case other => other
  }

  private def computedBelow(
      aggregate: Aggregate,
      groups: Seq[Expression]
  ): WatermarkGroupColumns = {
    val columns: Seq[NamedExpression] = groups.zipWithIndex.map {
      case (column: Attribute, _) => column
      case (value, i) => Alias(value, s"_eventtide_group_$i")()
    }
    val computed = columns.collect { case alias: Alias => alias }
    def over(value: Expression): Expression = value.transformDown { case part =>
      computed.find(_.child.semanticEquals(part)).fold(part)(_.toAttribute)
    }
    val grouped = aggregate.copy(
      groupingExpressions = aggregate.groupingExpressions.map(over),
      aggregateExpressions =
        aggregate.aggregateExpressions.map(over(_).asInstanceOf[NamedExpression])
    )
    WatermarkGroupColumns(grouped, computed, columns.map(_.toAttribute))
  }
}
