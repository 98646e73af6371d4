package io.eventtide.spark.plan

import org.apache.spark.sql.Column
import org.apache.spark.sql.catalyst.expressions.{Attribute, AttributeReference}
import org.apache.spark.sql.catalyst.plans.logical.Aggregate
import org.apache.spark.sql.catalyst.types.DataTypeUtils
import org.apache.spark.sql.classic.DataFrame
import org.apache.spark.sql.functions.{count, lit}
import org.apache.spark.sql.types.{ArrayType, DataType, IntegerType, StructField, StructType}

/** What comes out of windows that hand out their rows, for a function: a line for each row that is in
  * one of them, and a line for each window, behind the last of its rows.
  *
  * {{{
  *   _window   of a window: its bounds, and which rows it has
  *   _row      of a row: its columns
  *   _key      of a window: its key
  * }}}
  *
  * The rows of a key are numbered as they come, from 0 in each batch. A window names its own as ranges:
  * `from, until, from, until ...`. `before` are those of the window given last before this batch, with
  * the first window of a key; null with others. Rows below `lowest` are of no window to come.
  */
private[plan] object HandedOut {

  /** The aggregation of nothing by keys, if each is one. */
  def keys(stream: DataFrame, keys: Seq[Column]): Aggregate = {
    val counted = WindowChecks.aggregation(stream, keys, Seq(count(lit(1))))
    counted.copy(aggregateExpressions = counted.aggregateExpressions.init)
  }

  def window(eventTime: Attribute): Attribute = {
    val ranges = ArrayType(IntegerType, containsNull = false)
    val fields = Seq(
      StructField("start", eventTime.dataType),
      StructField("end", eventTime.dataType),
      StructField("rows", ranges),
      StructField("before", ranges),
      StructField("lowest", IntegerType)
    )
    column("_window", StructType(fields))
  }

  def columns(row: Seq[Attribute], keyed: Aggregate): Seq[Attribute] = Seq(
    column("_row", DataTypeUtils.fromAttributes(row)),
    column("_key", DataTypeUtils.fromAttributes(keyed.aggregateExpressions.map(_.toAttribute)))
  )

  private def column(name: String, kind: DataType) =
    AttributeReference(name, kind, nullable = true)()
}
