package io.eventtide.spark.planning

import org.apache.spark.sql.Column
import org.apache.spark.sql.catalyst.expressions.{Alias, Attribute, AttributeReference}
import org.apache.spark.sql.catalyst.plans.logical.Aggregate
import org.apache.spark.sql.catalyst.types.DataTypeUtils
import org.apache.spark.sql.classic.DataFrame
import org.apache.spark.sql.functions.{count, lit}
import org.apache.spark.sql.types.{ArrayType, BinaryType, IntegerType, StructField, StructType}

/** What comes out of windows that hand out their rows, for a function: a line for each window, with
  * those of its rows that no line of the key had before. Where these are many, lines with rows alone
  * come first.
  *
  * {{{
  *   _window   its bounds, and which rows it has; null where more of its rows come
  *   _rows     rows, of which each is in one line of its key
  *   _key      in the first line of a key: its columns, and which of the rows its window before had
  * }}}
  *
  * The rows of a key are numbered as they come, from 0 on. Some of them are told as ranges: `from,
  * until, from, until ...`, each in four bytes, the lowest first. Rows below `lowest` are of no
  * window to come.
  *
  * A line is dear, and a row in it cheap: with each line Spark asks every column of Arrow's how long
  * it is by now.
  */
private[planning] object RowWindowOutput {

  /** The aggregation of nothing by keys, if each is one. */
  def keys(stream: DataFrame, keys: Seq[Column]): Aggregate = {
    val counted = WindowValidator.aggregation(stream, keys, Seq(count(lit(1))))
    counted.copy(aggregateExpressions = counted.aggregateExpressions.init)
  }

  /** With keys under ids that stay: those of columns Spark's optimizer may change. */
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
