package io.eventtide.spark.planning

import java.util.UUID

import org.apache.spark.sql.catalyst.expressions.{Attribute, Expression}
import org.apache.spark.sql.catalyst.plans.logical.{LogicalPlan, UnaryNode}
import org.apache.spark.sql.catalyst.types.DataTypeUtils
import org.apache.spark.sql.types.StructType

import io.eventtide.kernel.watermark.FutureGuard
import io.eventtide.spark.options.{LateSettings, WindowSettings}
import io.eventtide.spark.spi.HasLateOutput

/** Passes the on-time rows of a window. Late rows leave the plan here, for the late log.
  *
  * @param nodeId
  *   the id of the window node
  * @param logged
  *   the columns of a late row that are logged
  * @param names
  *   the names of the row's substream and key in the log; empty if late rows are not logged
  * @param guard
  *   the guard that makes future rows late too
  */
final case class LateRowFilter(
    nodeId: UUID,
    eventTime: Attribute,
    logged: Seq[Attribute],
    names: Seq[Expression],
    guard: Option[FutureGuard],
    settings: WindowSettings,
    child: LogicalPlan
) extends UnaryNode
    with HasLateOutput {
  override def output: Seq[Attribute] = child.output

  override protected def stringArgs: Iterator[Any] = Iterator(eventTime, settings.late.mode.summary)

  override def lateNode: UUID = nodeId
  override def lateSettings: LateSettings = settings.late
  override def lateRow: StructType = DataTypeUtils.fromAttributes(logged)

  override protected def withNewChildInternal(newChild: LogicalPlan): LateRowFilter =
    copy(child = newChild)
}
