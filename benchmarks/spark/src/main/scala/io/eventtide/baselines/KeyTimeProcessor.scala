package io.eventtide.baselines

import java.sql.Timestamp

import scala.collection.mutable

import org.apache.spark.sql.Encoders
import org.apache.spark.sql.streaming.{
  ExpiredTimerInfo,
  OutputMode,
  StatefulProcessor,
  TTLConfig,
  TimeMode,
  TimerValues,
  ValueState
}

/** What is known of a key.
  *
  * @param watermark
  *   the highest time of its rows
  * @param sign
  *   when it had a row last, by the clock that silence is measured by
  * @param hasTimer
  *   whether a timer will look whether it is silent
  * @param open
  *   the window of its newest row; None after silence
  */
final case class KeyState(watermark: Long, sign: Long, hasTimer: Boolean, open: Option[Frame])

object KeyState {
  val New: KeyState = KeyState(Long.MinValue, Long.MinValue, hasTimer = false, None)
}

/** The milliseconds without a row after which all windows of a key close.
  *
  * @param byEvents
  *   whether the watermark over all keys is the clock
  */
private final case class IdleTimeout(millis: Long, inEventTime: Boolean) {

  def now(timers: TimerValues): Long =
    if (inEventTime) timers.getCurrentWatermarkInMs() else timers.getCurrentProcessingTimeInMs()

  /** When a key has had a row last whose newest is of the time `newest`. */
  def sign(newest: Long, timers: TimerValues): Long = if (inEventTime) newest else now(timers)
}

/** Gives the windows of a key whose end the key's own watermark has reached: its highest time.
  *
  * A row is late when its window had closed before the batch. By that watermark no more than one
  * window is open after a batch, so all that a key has is one value without an array. A key has one
  * timer, which looks when there was a row last and is set again if that is not long ago: to move it
  * with each batch would be a write and a deletion more. All in milliseconds.
  */
private final class KeyTimeProcessor(size: Long, idle: Option[IdleTimeout])
    extends StatefulProcessor[Int, Event, Result] {

  @transient private var state: ValueState[KeyState] = _

  override def init(mode: OutputMode, time: TimeMode): Unit =
    state = getHandle.getValueState("key", Encoders.product[KeyState], TTLConfig.NONE)

  override def handleInputRows(
      key: Int,
      rows: Iterator[Event],
      timers: TimerValues
  ): Iterator[Result] = {
    val before = Option(state.get()).getOrElse(KeyState.New)
    val windows = mutable.LongMap.empty[Frame]
    before.open.foreach(window => windows(window.start) = window)
    var watermark = before.watermark
    rows.foreach { event =>
      val start = event.millis - Math.floorMod(event.millis, size)
      if (start + size > before.watermark)
        windows.getOrElseUpdate(start, Frame.empty(start)).add(event.value)
      watermark = math.max(watermark, event.millis)
    }
    val (closed, open) = windows.values.toArray.partition(_.start + size <= watermark)
    val sign = idle.fold(watermark)(_.sign(watermark, timers))
    if (!before.hasTimer) idle.foreach(timeout => getHandle.registerTimer(sign + timeout.millis))
    state.update(KeyState(watermark, sign, hasTimer = idle.isDefined, open.headOption))
    closed.sortBy(_.start).iterator.map(result(key, _))
  }

  override def handleExpiredTimer(
      key: Int,
      timers: TimerValues,
      expired: ExpiredTimerInfo
  ): Iterator[Result] = {
    val known = state.get()
    val silentAt = known.sign + idle.get.millis
    if (silentAt > idle.get.now(timers)) {
      getHandle.registerTimer(silentAt)
      Iterator.empty
    } else {
      state.update(known.copy(hasTimer = false, open = None))
      known.open.iterator.map(result(key, _))
    }
  }

  private def result(key: Int, of: Frame): Result = {
    val window = Window(new Timestamp(of.start), new Timestamp(of.start + size))
    Result(window, key, of.n, of.total, of.most)
  }
}
