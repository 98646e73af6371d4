package io.eventtide.spark.planning

import java.util.UUID

import org.apache.spark.sql.catalyst.expressions.{Attribute, Expression}
import org.apache.spark.sql.catalyst.plans.logical.{LogicalPlan, UnaryNode}
import org.apache.spark.sql.catalyst.types.DataTypeUtils
import org.apache.spark.sql.types.StructType

import io.eventtide.kernel.watermark.FutureGuard
import io.eventtide.spark.options.{LateSettings, WindowSettings}
import io.eventtide.spark.spi.HasLateOutput

/** Lets through the rows of a window that are on time. The others leave the plan here, for the late
  * log.
  *
  * @param nodeId
  *   that of the window
  * @param logged
  *   the columns of a late row that are kept
  * @param names
  *   what the log calls its substream and its key; none where rows are not kept
  * @param guard
  *   by which rows from the future are late too
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

  override def lateNode: UUID = nodeId
  override def lateSettings: LateSettings = settings.late
  override def lateRow: StructType = DataTypeUtils.fromAttributes(logged)

  override protected def withNewChildInternal(newChild: LogicalPlan): LateRowFilter =
    copy(child = newChild)
}
