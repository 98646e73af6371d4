package io.eventtide.spark.planning

import org.apache.spark.sql.Column
import org.apache.spark.sql.catalyst.expressions.{Alias, Attribute, AttributeReference}
import org.apache.spark.sql.catalyst.plans.logical.Aggregate
import org.apache.spark.sql.catalyst.types.DataTypeUtils
import org.apache.spark.sql.classic.DataFrame
import org.apache.spark.sql.functions.{count, lit}
import org.apache.spark.sql.types.{ArrayType, BinaryType, IntegerType, StructField, StructType}

/** The output of windows that emit their rows, for a function. Each window has one line, with the
  * rows that no earlier line of the key contains. If these rows are many, lines with only rows come
  * first.
  *
  * {{{
  *   _window   the window's bounds and its rows; null if more of its rows follow
  *   _rows     rows, each in exactly one line of its key
  *   _key      in the first line of a key: its columns, and the rows of the key's previous window
  * }}}
  *
  * The rows of a key are numbered from 0, in the order of the lines. A set of rows is written as
  * half-open ranges `from, until, from, until ...`, with four bytes per number, little-endian. Rows
  * below `lowest` belong to no later window.
  *
  * A line is expensive and a row in it is cheap, because Spark reads the current length of every
  * Arrow column for each line.
  */
private[planning] object RowWindowOutput {

  /** The aggregation by the keys, without aggregates; rejects columns that are not valid keys. */
  def keys(stream: DataFrame, keys: Seq[Column]): Aggregate = {
    val counted = WindowValidator.aggregation(stream, keys, Seq(count(lit(1))))
    counted.copy(aggregateExpressions = counted.aggregateExpressions.init)
  }

  /** The aggregation with stable ids for keys. Spark's optimizer may change the ids of columns. */
  def withOwnKeys(keyed: Aggregate): Aggregate =
    keyed.copy(aggregateExpressions = keyed.aggregateExpressions.zipWithIndex.map { case (key, i) =>
      val value = key match {
        case Alias(value, _) => value
        case column => column
      }
      Alias(value, s"_eventtide_key_$i")()
    })

  def window(eventTime: Attribute): Attribute = column(
    "_window",
    StructField("start", eventTime.dataType),
    StructField("end", eventTime.dataType),
    StructField("rows", Ranges),
    StructField("lowest", IntegerType)
  )

  def columns(row: Seq[Attribute], keyed: Aggregate): Seq[Attribute] = Seq(
    AttributeReference("_rows", ArrayType(named(row), containsNull = false), nullable = false)(),
    column(
      "_key",
      StructField("key", named(keyed.aggregateExpressions.map(_.toAttribute))),
      StructField("before", Ranges)
    )
  )

  private def named(columns: Seq[Attribute]): StructType = {
    WindowValidator.differentNames(columns.map(_.name))
    DataTypeUtils.fromAttributes(columns)
  }

  private def column(name: String, fields: StructField*) =
    AttributeReference(name, StructType(fields))()

  private val Ranges = BinaryType
}
