package io.eventtide.spark.plan

import org.apache.spark.sql.Column
import org.apache.spark.sql.catalyst.expressions.{Attribute, AttributeReference}
import org.apache.spark.sql.catalyst.plans.logical.Aggregate
import org.apache.spark.sql.catalyst.types.DataTypeUtils
import org.apache.spark.sql.classic.DataFrame
import org.apache.spark.sql.functions.{count, lit}
import org.apache.spark.sql.types.{BinaryType, IntegerType, StructField, StructType}

/** What comes out of windows that hand out their rows, for a function: for each key that has some, a
  * line for the key, then one for each row that is in a window, and one for each window, behind the
  * last of its rows.
  *
  * {{{
  *   _window   of a window: its bounds, and which rows it has
  *   _row      of a row: its columns
  *   _key      of a key: its columns, and which of the rows its window before these had
  * }}}
  *
  * The rows of a key are numbered as they come, from 0 on. Some of them are told as ranges: `from,
  * until, from, until ...`, each in four bytes, the lowest first. An array of numbers would cost far
  * more: to know how long a batch is, Spark fills the gaps of an array's column anew with each row.
  * Rows below `lowest` are of no window to come.
  */
private[plan] object HandedOut {

  /** The aggregation of nothing by keys, if each is one. */
  def keys(stream: DataFrame, keys: Seq[Column]): Aggregate = {
    val counted = WindowChecks.aggregation(stream, keys, Seq(count(lit(1))))
    counted.copy(aggregateExpressions = counted.aggregateExpressions.init)
  }

  def window(eventTime: Attribute): Attribute = column(
    "_window",
    StructField("start", eventTime.dataType),
    StructField("end", eventTime.dataType),
    StructField("rows", Ranges),
    StructField("lowest", IntegerType)
  )

  def columns(row: Seq[Attribute], keyed: Aggregate): Seq[Attribute] = Seq(
    AttributeReference("_row", named(row))(),
    column(
      "_key",
      StructField("key", named(keyed.aggregateExpressions.map(_.toAttribute))),
      StructField("before", Ranges)
    )
  )

  private def named(columns: Seq[Attribute]): StructType = {
    WindowChecks.differentNames(columns.map(_.name))
    DataTypeUtils.fromAttributes(columns)
  }

  private def column(name: String, fields: StructField*) =
    AttributeReference(name, StructType(fields))()

  private val Ranges = BinaryType
}
