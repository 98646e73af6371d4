package io.eventtide.spark.plan

import java.util.UUID

import org.apache.spark.sql.catalyst.expressions.aggregate.AggregateExpression
import org.apache.spark.sql.catalyst.expressions.{
  Alias,
  Attribute,
  AttributeSet,
  CollationKey,
  ExprId,
  PreciseTimestampConversion
}
import org.apache.spark.sql.catalyst.plans.logical.{Aggregate, LogicalPlan, UnaryNode}
import org.apache.spark.sql.catalyst.util.toPrettySQL

import io.eventtide.spark.options.WindowSettings

/** Makes windows of what its child, an aggregation of Spark's by keys and frame, has for each frame.
  *
  * The two are planned as one, by Eventtide's own operator. The child is there so that Spark resolves,
  * checks and optimizes the aggregates as it does its own.
  *
  * @param nodeId
  *   names the node in every copy of the plan
  * @param frame
  *   the column of the frame's number, the child's last grouping column
  * @param window
  *   the output column of the window, tagged as event time
  * @param pane
  *   the output columns that say what a pane is; none where windows give one row each
  * @param hidden
  *   columns of the child that the operator needs and nobody else
  */
final case class WindowAggregate(
    nodeId: UUID,
    frame: Attribute,
    window: Attribute,
    pane: Seq[Attribute],
    hidden: HiddenColumns,
    settings: WindowSettings,
    child: LogicalPlan
) extends UnaryNode {

  /** What saved state depends on: a checkpoint of another structure is refused. */
  def structure: String = {
    val Aggregate(grouping, columns, _, _) = child: @unchecked
    val asked = grouping.init.map { case CollationKey(key) => key; case key => key }
    val keys = asked.map(key => s"${toPrettySQL(key)} ${key.dataType.sql}")
    val aggregates = columns
      .filterNot(column => hidden.kept.contains(column.exprId))
      .flatMap(_.collect { case call: AggregateExpression => call })
    val calls = aggregates.map { call =>
      val types = call.aggregateFunction.children.map(_.dataType.sql)
      s"${toPrettySQL(call)} of ${types.mkString(", ")}"
    }
    s"${WindowAggregate.Line}${settings.structure}, on ${eventTime.mkString}, by (${keys.mkString(", ")}), " +
      calls.distinct.mkString("(", "; ", ")")
  }

  private def eventTime: Option[String] =
    child
      .flatMap(_.expressions.flatMap(_.collect {
        case FrameNumber(time, _) => time
        case Alias(PreciseTimestampConversion(time, _, _), WindowBuilder.Micros) => time
      }))
      .headOption
      .map(time => toPrettySQL(time))

  private def isHidden(column: Attribute): Boolean =
    column.exprId == frame.exprId || hidden.ids.contains(column.exprId)

  override def output: Seq[Attribute] = (window +: child.output.filterNot(isHidden)) ++ pane

  override def producedAttributes: AttributeSet = AttributeSet(window +: pane)

  // All of them: nothing may be pruned between the two.
  override def references: AttributeSet = child.outputSet

  override protected def withNewChildInternal(newChild: LogicalPlan): WindowAggregate =
    copy(child = newChild)
}

private[spark] object WindowAggregate {

  /** How the line of a window begins in the plan of a checkpoint. */
  val Line = "window "
}

/** Columns of the aggregation that are no results.
  *
  * @param condition
  *   whether a result is given early
  * @param rows
  *   the number of rows
  * @param kept
  *   what is kept of late rows
  */
final case class HiddenColumns(
    condition: Option[ExprId],
    rows: Option[ExprId],
    kept: Option[ExprId]
) {
  def ids: Seq[ExprId] = condition.toSeq ++ rows ++ kept
}
