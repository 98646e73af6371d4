package io.eventtide.spark.planning

import org.apache.spark.sql.catalyst.expressions.aggregate.AggregateExpression
import org.apache.spark.sql.catalyst.expressions.{
  Alias,
  Attribute,
  AttributeSet,
  Expression,
  MonotonicallyIncreasingID,
  NamedExpression
}

import io.eventtide.kernel.watermark.FutureGuard
import io.eventtide.spark.operators.RowInputSpec
import io.eventtide.spark.options.{WindowKind, WindowSettings}

/** The input rows of a row-at-a-time window.
  *
  * @param columns
  *   the expressions that produce the columns of the rows
  */
private[planning] final case class RowInputPlanning(
    columns: Seq[NamedExpression],
    spec: RowInputSpec
)

private[planning] object RowInputPlanning {

  def apply(
      node: WindowAggregate,
      grouping: Seq[NamedExpression],
      aggregates: Seq[AggregateExpression],
      kept: Seq[CarriedColumns]
  ): RowInputPlanning = {
    def keptFor(use: CarriedColumns.Use) = kept.filter(_.use == use).flatMap(_.children)
    val logged = keptFor(CarriedColumns.ForLateRows)
    val stored = keptFor(CarriedColumns.ForRows)
    val keysAndTime = grouping.map(_.toAttribute)
    val used: Seq[Expression] = aggregates ++ logged ++ stored
    val others = AttributeSet(used.flatMap(_.references)) -- keysAndTime
    val order = orderOf(node.settings, keysAndTime.last)
    val gap = keptFor(CarriedColumns.ForGaps).headOption.map(named)
    val columns = (grouping ++ others.toSeq) ++ order.filterNot(keysAndTime.contains) ++ gap
    val guard = node.collectFirst { case rows: LateRowFilter => rows.guard }.flatten
    val input = columns.map(_.toAttribute)
    val clamp = node.collectFirst { case watermark: PolicyWatermark => watermark.settings.guard }
    val spec = RowInputSpec(
      input,
      aggregates.map(_.filter),
      logged,
      guard,
      clamp.flatten.filter(_.mode == FutureGuard.Clamp),
      order.map(_.toAttribute),
      kept.find(_.use == CarriedColumns.ForGroups).map(groupsOf(grouping, _)),
      node.settings.retainingRows.map(_ => storedOf(node, aggregates, stored)),
      gap.map(_.toAttribute)
    )
    RowInputPlanning(columns, spec)
  }

  // Spark replaces a column by its value if that is a constant.
  private def named(gap: Expression): NamedExpression = gap match {
    case column: Attribute => column
    case constant => Alias(constant, SessionGap.Name)()
  }

  // In a batch query, which stores no rows, Spark may compute from columns other than the user's.
  private def storedOf(
      node: WindowAggregate,
      aggregates: Seq[AggregateExpression],
      written: Seq[Expression]
  ): Seq[Expression] = {
    val used = AttributeSet(aggregates.flatMap(_.references))
    val hasAll = used.subsetOf(AttributeSet(written.collect { case column: Attribute => column }))
    if (hasAll) written
    else if (!node.isStreaming) used.toSeq
    else throw new IllegalStateException(s"rows without columns that are used: $node")
  }

  // In a batch query, Spark removes constant columns from the keys. They do not distinguish groups.
  private def groupsOf(grouping: Seq[NamedExpression], kept: CarriedColumns): Seq[Attribute] =
    kept.children.collect { case column: Attribute =>
      val key = grouping.find(_.exprId == column.exprId)
      key.getOrElse(throw new IllegalStateException(s"a group by no key: $column")).toAttribute
    }

  /** The column that the rows of a key must be ordered by; None for any order. The order of arrival
    * is the order in Spark's partitions.
    */
  private def orderOf(settings: WindowSettings, micros: Attribute): Option[NamedExpression] =
    settings.windows match {
      case _ if settings.maxRowsPerStep < Int.MaxValue => Some(arrival)
      case _: WindowKind.ByCount | _: WindowKind.RetainingRows => Some(arrival)
      case WindowKind.BySession(spec) if spec.maximum.isDefined => Some(micros)
      case _ => None
    }

  private def arrival: Alias = Alias(MonotonicallyIncreasingID(), "_eventtide_arrival")()
}
