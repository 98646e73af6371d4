package io.eventtide.baselines

import scala.collection.mutable

import org.apache.spark.sql.streaming.{
  OutputMode,
  StatefulProcessor,
  TTLConfig,
  TimeMode,
  TimerValues,
  ValueState
}
import org.apache.spark.sql.{DataFrame, Encoders}

/** By the numbers of the rows of a key, from 0 on: those from `start` until `end`. */
final case class CountWindow(start: Long, end: Long)

final case class CountResult(window: CountWindow, key: Int, n: Long, total: Double, most: Double)

/** Count, sum and maximum of every hundred rows of a key, as a user of Spark would write them with
  * `transformWithState`.
  */
object TransformWithStateCounts {

  /** The results over a stream with columns `ts`, `key` and `value`. */
  def apply(events: DataFrame, rows: Long): DataFrame = {
    val session = events.sparkSession
    import session.implicits._
    events
      .selectExpr("key", "value", "unix_millis(ts) AS millis")
      .groupBy("key")
      .as[Int, Event]
      .transformWithState(new CountProcessor(rows), TimeMode.None(), OutputMode.Append())
      .toDF()
  }
}

/** Keeps the window of a key that is not full; its `start` is the number of its first row. */
private final class CountProcessor(size: Long) extends StatefulProcessor[Int, Event, CountResult] {

  @transient private var state: ValueState[Frame] = _

  override def init(mode: OutputMode, time: TimeMode): Unit =
    state = getHandle.getValueState("window", Encoders.product[Frame], TTLConfig.NONE)

  override def handleInputRows(
      key: Int,
      rows: Iterator[Event],
      timers: TimerValues
  ): Iterator[CountResult] = {
    var window = Option(state.get()).getOrElse(Frame.empty(0))
    val full = mutable.ArrayBuffer.empty[CountResult]
    rows.foreach { event =>
      window.add(event.value)
      if (window.n == size) {
        val Frame(start, n, total, most) = window
        full += CountResult(CountWindow(start, start + size), key, n, total, most)
        window = Frame.empty(start + size)
      }
    }
    state.update(window)
    full.iterator
  }
}
