package io.eventtide.spark.planning

import org.apache.spark.sql.catalyst.expressions.aggregate.AggregateExpression
import org.apache.spark.sql.catalyst.expressions.{Attribute, ExprId, If, Literal, NamedExpression}

import io.eventtide.spark.options.AggregateHistory
import io.eventtide.spark.state.{Inverse, MissingRows}

/** All aggregates that a window computes.
  *
  * @param aggregates
  *   the aggregates that the user requests, then the aggregates that these need
  * @param names
  *   the names of each aggregate
  * @param counts
  *   the `counts` of `Inverse`; empty if no frame is deducted
  * @param missing
  *   the `MissingRows` of aggregates that have been added, by the id of the aggregate
  */
private[planning] final case class ComputedAggregates(
    aggregates: Seq[AggregateExpression],
    names: Seq[Seq[String]],
    counts: Seq[Int],
    missing: Map[ExprId, Attribute]
) {

  /** A column over the results, in which an aggregate that lacks rows of its window is null. */
  def valueOf(column: NamedExpression): NamedExpression =
    if (missing.isEmpty) column
    else
      column
        .transformUp {
          case result: Attribute if missing.contains(result.exprId) =>
            If(missing(result.exprId), Literal(null, result.dataType), result)
        }
        .asInstanceOf[NamedExpression]
}

private[planning] object ComputedAggregates {

  def apply(
      node: WindowAggregate,
      requested: Seq[AggregateExpression],
      history: Option[AggregateHistory]
  ): ComputedAggregates = {
    val names = requested.map(namesOf(node, _))
    history match {
      case Some(changed) if node.settings.retainingRows.isEmpty =>
        withMissingRows(requested, names, changed)
      case _ =>
        val inverse = Inverse.of(requested).getOrElse(Inverse(requested, Nil))
        val all = names ++ inverse.aggregates.indices.drop(names.length).map { count =>
          Seq(s"values in ${names(inverse.counts.indexOf(count)).head}")
        }
        ComputedAggregates(inverse.aggregates, all, inverse.counts, Map.empty)
    }
  }

  // Without an inverse: saved sums may have no count.
  private def withMissingRows(
      requested: Seq[AggregateExpression],
      names: Seq[Seq[String]],
      history: AggregateHistory
  ): ComputedAggregates = {
    val added = requested.zip(names).filter { case (_, names) => names.forall(history.isAdded) }
    val missing = added.map { case (call, names) =>
      call.resultAttribute.exprId -> MissingRows(names.head).toAggregateExpression()
    }
    ComputedAggregates(
      requested ++ missing.map(_._2),
      names ++ added.map(_._2),
      Nil,
      missing.map { case (id, call) => id -> call.resultAttribute }.toMap
    )
  }

  // Spark computes equal aggregates once.
  private def namesOf(node: WindowAggregate, call: AggregateExpression): Seq[String] = {
    val equal = node.child.expressions.flatMap(_.collect {
      case other: AggregateExpression if other.canonicalized == call.canonicalized => other.resultId
    })
    val names = node.aggregates.filter(name => equal.contains(name.id)).map(_.text).distinct
    if (names.isEmpty) Seq(AggregateName.of(call).text) else names
  }
}
