package io.eventtide.spark

import java.time.Duration

import scala.concurrent.duration.FiniteDuration
import scala.language.implicitConversions

import org.apache.spark.sql.streaming.StreamingQuery
import org.apache.spark.sql.{DataFrame, Dataset}

/** Eventtide's calls as methods of Spark's classes: `import io.eventtide.spark.implicits._`.
  *
  * {{{
  *   import io.eventtide.spark.implicits._
  *   events.withWatermark("ts", WatermarkPolicy.withFixedLag("5s"))
  *   events.eventtideWindow.keyBy("user").tumbling("1m").agg(count("*"))
  * }}}
  */
object implicits {

  /** Makes `5.seconds` of `scala.concurrent.duration` a duration. */
  implicit def javaDuration(length: FiniteDuration): Duration = Duration.ofNanos(length.toNanos)

  /** The methods of a stream. */
  implicit final class EventtideDataset(private val rows: Dataset[_]) extends AnyVal {

    /** As `Eventtide.withWatermark`; with text in place of the policy, it is Spark's method. */
    def withWatermark(eventTime: String, policy: WatermarkPolicy): DataFrame =
      Eventtide.withWatermark(rows, eventTime, policy)

    /** As `Eventtide.withWatermark`. */
    def withWatermark(
        eventTime: String,
        policy: WatermarkPolicy,
        options: WatermarkOptions
    ): DataFrame = Eventtide.withWatermark(rows, eventTime, policy, options)

    /** As `Eventtide.withIngestionTime`. */
    def withIngestionTime(into: String): DataFrame = Eventtide.withIngestionTime(rows, into)

    /** As `Eventtide.window`. */
    def eventtideWindow: WindowBuilder = Eventtide.window(rows)
  }

  /** The methods of a running query. */
  implicit final class EventtideQuery(private val query: StreamingQuery) extends AnyVal {

    /** As `Eventtide.blame`. */
    def blame: Option[String] = Eventtide.blame(query)

    /** As `Eventtide.progress`. */
    def eventtideProgress: Option[QueryProgress] = Eventtide.progress(query)

    /** As `Eventtide.lateRows`. */
    def lateRows: DataFrame = Eventtide.lateRows(query)
  }
}
