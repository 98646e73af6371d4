package io.eventtide.spark.planning

import org.apache.spark.sql.functions.{col, expr, timestamp_millis, when}
import org.apache.spark.sql.types.{DataType, LongType, TimestampNTZType, TimestampType}
import org.apache.spark.sql.{Column, DataFrame}

import io.eventtide.spark.EventtideException

/** The event time of rows where other systems have a function of a row: a Column, or a text that is
  * a column name or SQL.
  */
private[spark] sealed trait EventTimeExtractor {

  /** The time over these rows, after a check of its type. */
  def over(option: String, rows: DataFrame, acceptsMillis: Boolean): ExtractedTime
}

/** The event time of rows.
  *
  * @param name
  *   the column that has it; None if it is computed
  */
private[spark] final case class ExtractedTime(column: Column, kind: DataType, name: Option[String])

private[spark] object EventTimeExtractor {

  /** The column of an event time that is computed. */
  val ExtractedColumn = "_extracted_event_time"

  private val FirstMillis = -62135596800000L // of the year 1
  private val LastMillis = 253402300799999L // of the year 9999
  private val Name = "[^\\W\\d]\\w*(\\.[^\\W\\d]\\w*)*|`[^`]+`"

  final case class OfText(text: String) extends EventTimeExtractor {
    def over(option: String, rows: DataFrame, acceptsMillis: Boolean): ExtractedTime = {
      val isName = rows.columns.contains(text) || text.matches(Name)
      val column = if (isName) col(text) else expr(text)
      read(option, column, Option.when(isName)(text), rows, acceptsMillis)
    }
  }

  final case class OfColumn(column: Column) extends EventTimeExtractor {
    def over(option: String, rows: DataFrame, acceptsMillis: Boolean): ExtractedTime =
      read(option, column, None, rows, acceptsMillis)
  }

  /** Rejects rows with a column that is added to them. */
  def checkFree(rows: DataFrame, added: String): Unit =
    if (rows.columns.exists(_.equalsIgnoreCase(added)))
      throw EventtideException("COLUMN_EXISTS", "column" -> added)

  private def read(
      option: String,
      time: Column,
      name: Option[String],
      rows: DataFrame,
      acceptsMillis: Boolean
  ): ExtractedTime = rows.select(time).schema.head.dataType match {
    case LongType if acceptsMillis => ExtractedTime(ofMillis(time), TimestampType, None)
    case kind @ (TimestampType | TimestampNTZType) => ExtractedTime(time, kind, name)
    case other =>
      throw EventtideException(
        "EVENT_TIME_TYPE",
        "column" -> s"$option: $time",
        "type" -> other.sql
      )
  }

  // Null outside the years 1 to 9999, where Spark would fail.
  private def ofMillis(time: Column): Column =
    when(time.between(FirstMillis, LastMillis), timestamp_millis(time))
}
