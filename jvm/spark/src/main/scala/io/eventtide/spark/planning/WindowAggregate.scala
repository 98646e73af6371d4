package io.eventtide.spark.planning

import java.util.UUID

import org.apache.spark.sql.catalyst.expressions.aggregate.AggregateExpression
import org.apache.spark.sql.catalyst.expressions.{
  Alias,
  Attribute,
  AttributeMap,
  AttributeSet,
  CollationKey,
  ExprId,
  Expression,
  PreciseTimestampConversion
}
import org.apache.spark.sql.catalyst.plans.logical.{Aggregate, LogicalPlan, UnaryNode}
import org.apache.spark.sql.catalyst.util.toPrettySQL

import io.eventtide.kernel.time.FrameGrid
import io.eventtide.spark.options.{AggregateHistory, Structure, WindowSettings}
import io.eventtide.spark.spi.{PlanNodes, WindowNode}

/** Combines frames into windows. Its child is a Spark aggregation by keys and frame.
  *
  * Both nodes are planned as one Eventtide operator. The child exists so that Spark resolves,
  * checks and optimizes the aggregates like any other.
  *
  * @param nodeId
  *   the id of the node in every copy of the plan
  * @param frame
  *   the column of the frame number, the child's last grouping column
  * @param window
  *   the output column of the window, tagged as event time
  * @param pane
  *   the output columns that describe a pane; empty if each window emits one row. If windows emit
  *   their rows, the columns for rows and their key
  * @param hidden
  *   the columns of the child that only the operator needs
  * @param aggregates
  *   the names of the aggregates in the child
  * @param isRealTime
  *   whether its query runs in real-time mode
  */
final case class WindowAggregate(
    nodeId: UUID,
    frame: Attribute,
    window: Attribute,
    pane: Seq[Attribute],
    hidden: HiddenColumns,
    aggregates: Seq[AggregateName],
    settings: WindowSettings,
    child: LogicalPlan,
    isRealTime: Boolean = false
) extends UnaryNode
    with WindowNode {

  /** Whether the operator takes rows, not aggregated frames. */
  def isRowByRow: Boolean = isRealTime || settings.isJudgedByKey

  /** Whether the window is by keys. Without keys, its rows are in one partition. */
  def hasKeys: Boolean = keys.nonEmpty

  // The frame is the last grouping column.
  private def keys: Seq[Expression] = {
    val Aggregate(grouping, _, _, _) = child: @unchecked
    grouping.init
  }

  override def nodeName: String = "EventtideWindow"

  override protected def stringArgs: Iterator[Any] = Iterator(settings.summary)

  override def aggregation: LogicalPlan = child

  /** The settings that saved state depends on. A checkpoint with another structure is rejected. */
  override def structure: Structure = {
    val named = keys.map(asWritten).map(key => s"${toPrettySQL(key)} ${key.dataType.sql}")
    settings.structure ++
      eventTime.map("event_time" -> _) ++
      Option.when(named.nonEmpty)("key_by" -> named.mkString(", ")) ++
      groups.map("group" -> _) ++
      AggregateHistory.settings(
        aggregates.map(_.text),
        settings.retainingRows.map(_ => stored)
      )
  }

  /** The window with other settings, over the frames of these settings. */
  def under(settings: WindowSettings): WindowAggregate =
    if (settings.windows == this.settings.windows) copy(settings = settings)
    else copy(settings = settings, child = reframed(child, settings.spec.frames))

  // A window below has its own frames.
  private def reframed(plan: LogicalPlan, grid: FrameGrid): LogicalPlan = plan match {
    case below: WindowAggregate => below
    case other =>
      other.mapChildren(reframed(_, grid)).transformExpressions { case number: FrameNumber =>
        number.copy(grid = grid)
      }
  }

  private def eventTime: Option[String] =
    child
      .flatMap(_.expressions.flatMap(_.collect {
        case FrameNumber(time, _) => time
        case Alias(PreciseTimestampConversion(time, _, _), WindowBuilder.Micros) => time
      }))
      .headOption
      .map(time => toPrettySQL(time))

  private def groups: Option[String] = child.expressions
    .flatMap(_.collect { case CarriedColumns(columns, CarriedColumns.ForGroups) => columns })
    .headOption
    .map(_.map(column => toPrettySQL(asWritten(column))).mkString(", "))

  // The columns of rows in state, with their types.
  private def stored: Seq[String] =
    child.expressions
      .flatMap(_.collect { case CarriedColumns(columns, CarriedColumns.ForRows) => columns })
      .flatten
      .map(column => s"${toPrettySQL(column)} ${column.dataType.sql}")

  private def asWritten(key: Expression): Expression = key match {
    case CollationKey(text) => text
    case column: Attribute => computedBelow.get(column).fold(key)(asWritten)
    case other => other
  }

  private def computedBelow: AttributeMap[Expression] = AttributeMap(
    child.children.flatMap(_.expressions).collect { case alias: Alias =>
      alias.toAttribute -> alias.child
    }
  )

  private def isHidden(column: Attribute): Boolean =
    column.exprId == frame.exprId || hidden.ids.contains(column.exprId)

  // A run may add aggregates, which have no value in older windows.
  override def output: Seq[Attribute] = {
    val results = child.output.filterNot(isHidden).map { column =>
      if (aggregated.contains(column.exprId)) column.withNullability(true) else column
    }
    (window +: results) ++ pane
  }

  private lazy val aggregated: Set[ExprId] = child.expressions.collect {
    case column: Alias if column.exists(_.isInstanceOf[AggregateExpression]) => column.exprId
  }.toSet

  override def producedAttributes: AttributeSet = AttributeSet(window +: pane)

  // All columns of the child: nothing may be pruned between the two nodes.
  override def references: AttributeSet = child.outputSet

  override protected def withNewChildInternal(newChild: LogicalPlan): WindowAggregate =
    copy(child = newChild)
}

object WindowAggregate {

  /** The windows of a plan, once each, in an order that is stable across restarts. */
  def allIn(plan: LogicalPlan): Seq[WindowAggregate] =
    PlanNodes.windows(plan).collect { case window: WindowAggregate => window }
}

/** Columns of the aggregation that are not results.
  *
  * @param condition
  *   the condition of a trigger
  * @param kept
  *   the `CarriedColumns`, which are not evaluated
  * @param keys
  *   the keys whose form differs in results
  */
final case class HiddenColumns(
    condition: Option[ExprId],
    kept: Seq[ExprId],
    keys: Seq[ExprId] = Nil
) {
  def ids: Seq[ExprId] = condition.toSeq ++ kept ++ keys
}
