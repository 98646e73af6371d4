package io.eventtide.spark.spi

import java.util.UUID

import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.types.StructType

import io.eventtide.spark.options.LateSettings

/** A logical node whose operator finds late rows: what a query has to know of it before it starts.
  *
  * Its operator gets a `LateLog` from the batch that it is planned for, by `lateNode`.
  */
trait HasLateOutput { this: LogicalPlan =>

  /** The same in every copy of the node, and another in each node of a query. */
  def lateNode: UUID

  def lateSettings: LateSettings

  /** The columns of a late row, without those that the log adds. */
  def lateRow: StructType
}
