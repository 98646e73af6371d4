package io.eventtide.baselines

import java.sql.Timestamp

import org.apache.spark.sql.DataFrame
import org.apache.spark.sql.streaming.{OutputMode, TimeMode}

/** An event as the processor reads it: its time as a number, so that no object is made for it. */
final case class Event(millis: Long, value: Double)

final case class Window(start: Timestamp, end: Timestamp)

final case class Result(window: Window, key: Int, n: Long, total: Double, most: Double)

/** Count, sum and maximum in sliding windows, as a user of Spark would write them with
  * `transformWithState`.
  */
object TransformWithStateWindow {

  /** The results over a stream with columns `ts`, `key` and `value` and a watermark on `ts`. */
  def apply(events: DataFrame, sizeMillis: Long, slideMillis: Long): DataFrame = {
    val session = events.sparkSession
    import session.implicits._
    events
      .selectExpr("ts", "key", "value", "unix_millis(ts) AS millis")
      .groupBy("key")
      .as[Int, Event]
      .transformWithState(
        new WindowProcessor(sizeMillis, slideMillis),
        TimeMode.EventTime(),
        OutputMode.Append()
      )
      .toDF()
  }
}
