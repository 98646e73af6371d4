package io.eventtide.spark.spi

import java.util.UUID

import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.types.StructType

import io.eventtide.spark.options.LateSettings

/** A logical node whose operator finds late rows. The query needs these settings before it starts.
  *
  * The operator gets its `LateLog` by `lateNode` from the batch that it is planned for.
  */
trait HasLateOutput { this: LogicalPlan =>

  /** The id of the node: the same in every copy, and unique within a query. */
  def lateNode: UUID

  def lateSettings: LateSettings

  /** The columns of a late row, without the columns that the log adds. */
  def lateRow: StructType
}
