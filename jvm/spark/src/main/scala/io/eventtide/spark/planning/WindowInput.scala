package io.eventtide.spark.planning

import java.nio.charset.StandardCharsets.UTF_8
import java.time.Duration
import java.util.UUID

import org.apache.spark.sql.Column
import org.apache.spark.sql.catalyst.expressions.{
  Add,
  Alias,
  Attribute,
  Expression,
  GetStructField,
  Literal,
  PreciseTimestampConversion
}
import org.apache.spark.sql.catalyst.plans.logical.{EventTimeWatermark, LogicalPlan, Project}
import org.apache.spark.sql.classic.{DataFrame, SparkSession}
import org.apache.spark.sql.eventtide.SparkInternals
import org.apache.spark.sql.types.{LongType, StructType}

import io.eventtide.kernel.watermark.FutureGuard
import io.eventtide.spark.EventtideException
import io.eventtide.spark.options.OptionReader

/** The input of a window: a stream with an Eventtide watermark, and its event time.
  *
  * @param columns
  *   the user's columns
  * @param guard
  *   the guard whose future rows are still in the stream; the window must remove them
  */
private[spark] final case class WindowInput(
    stream: DataFrame,
    eventTime: Attribute,
    columns: Seq[Attribute],
    guard: Option[FutureGuard] = None
) {

  /** The stream with only the user's columns, in which names are resolved. */
  def seen: DataFrame = {
    val plan = stream.queryExecution.analyzed
    if (plan.output.length == columns.length) stream
    else SparkInternals.dataFrame(stream.sparkSession, Project(columns, plan))
  }
}

private[spark] object WindowInput {

  /** A stream that gets its watermark from `options`. */
  def withWatermark(
      stream: DataFrame,
      window: UUID,
      eventTime: String,
      substream: Seq[Column],
      options: Map[String, String]
  ): WindowInput = {
    val time = EventTimeColumn.named(stream, eventTime)
    val (watermarked, settings) =
      WatermarkBuilder.underWindow(time, below(window, 0), eventTime, substream, options)
    val guard = settings.guard.filter(_.mode == FutureGuard.Late)
    val output = watermarked.queryExecution.analyzed.output
    val marked = output.find(_.exprId == time.column.exprId).getOrElse(time.column)
    val theirs = stream.queryExecution.analyzed.outputSet
    WindowInput(watermarked, marked, output.filter(theirs.contains), guard)
  }

  /** A batch plan, in which all rows are known.
    *
    * @param eventTime
    *   the event time column; None for the output of a window below
    */
  def batch(rows: DataFrame, eventTime: Option[String]): WindowInput = {
    val EventTimeColumn(timedRows, column) = chosen(rows, eventTime).getOrElse {
      OptionReader.missing(
        "event_time",
        "the event time column, because a batch has no watermark that marks one"
      )
    }
    if (!isMarked(column)) EventTimeColumn.checkType(column, column.name)
    over(rows.sparkSession, timedRows.queryExecution.analyzed, column)
      .copy(columns = rows.queryExecution.analyzed.output)
  }

  /** A stream that has an Eventtide or a Spark watermark, on a column or on windows. */
  def watermarked(stream: DataFrame, window: UUID, eventTime: Option[String]): WindowInput = {
    val plan = stream.queryExecution.analyzed
    val column = chosen(stream, eventTime).map(_.column).filter(isMarked).getOrElse {
      throw EventtideException(
        "NO_WATERMARK",
        "column" -> eventTime.getOrElse("(none named)"),
        "marked" -> plan.output
          .filter(isMarked)
          .map(_.name)
          .reduceOption(_ + ", " + _)
          .getOrElse("none")
      )
    }
    over(stream.sparkSession, takeOver(plan, window, stream.sparkSession), column)
  }

  /** The column that the user named, or the column with the event-time mark. */
  private def chosen(rows: DataFrame, name: Option[String]): Option[EventTimeColumn] =
    name
      .map(EventTimeColumn.named(rows, _))
      .orElse(rows.queryExecution.analyzed.output.find(isMarked).map(EventTimeColumn(rows, _)))

  private def over(
      session: SparkSession,
      plan: LogicalPlan,
      column: Attribute
  ): WindowInput =
    column.dataType match {
      case _: StructType =>
        val time = Alias(lastInstant(column), "_eventtide_time")(
          explicitMetadata = Some(column.metadata)
        )
        val timed = SparkInternals.dataFrame(session, Project(plan.output :+ time, plan))
        WindowInput(timed, time.toAttribute, plan.output)
      case _ => WindowInput(SparkInternals.dataFrame(session, plan), column, plan.output)
    }

  private def isMarked(column: Attribute): Boolean =
    column.metadata.contains(EventTimeWatermark.delayKey)

  // A Spark watermark becomes a policy with the same values, so that the query has a ledger.
  private def takeOver(plan: LogicalPlan, window: UUID, session: SparkSession): LogicalPlan = {
    val numbers = Iterator.from(0)
    plan.transformUp {
      case stock: EventTimeWatermark if !stock.isInstanceOf[PolicyWatermark] =>
        val lag = Duration.ofMillis(EventTimeWatermark.getDelayMs(stock.delay))
        WatermarkBuilder.fixedLag(
          session,
          below(window, numbers.next()),
          stock.child,
          stock.eventTime,
          lag
        )
    }
  }

  // The identity of a watermark that a window adds.
  private def below(window: UUID, position: Int): UUID =
    UUID.nameUUIDFromBytes(s"$window/$position".getBytes(UTF_8))

  // The event time of a window is its last instant, as for Spark's `window_time`.
  private def lastInstant(window: Attribute): Expression = {
    val end = GetStructField(window, ordinal = 1)
    val micros = PreciseTimestampConversion(end, end.dataType, LongType)
    PreciseTimestampConversion(Add(micros, Literal(-1L)), LongType, end.dataType)
  }
}
