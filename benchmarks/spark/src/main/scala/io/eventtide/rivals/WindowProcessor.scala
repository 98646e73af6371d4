package io.eventtide.rivals

import java.sql.Timestamp

import scala.collection.mutable

import org.apache.spark.sql.Encoders
import org.apache.spark.sql.streaming.{
  ExpiredTimerInfo,
  MapState,
  OutputMode,
  StatefulProcessor,
  TTLConfig,
  TimeMode,
  TimerValues
}

/** What came in one slide, or in one window. */
final case class Frame(var n: Long, var total: Double, var most: Double) {

  def add(value: Double): Unit = merge(1, value, value)

  def merge(other: Frame): Frame = {
    merge(other.n, other.total, other.most)
    this
  }

  private def merge(n: Long, total: Double, most: Double): Unit = {
    this.n += n
    this.total += total
    this.most = math.max(this.most, most)
  }
}

object Frame {
  def empty: Frame = Frame(0, 0, Double.NegativeInfinity)
}

/** Keeps a frame for each slide of a key, by its start, and combines the frames of a window when
  * its timer fires.
  *
  * A new frame sets the timer of the first window that ends after it: one timer a slide, instead of
  * one for each window that the frame is in. Where a slide has no frame, the window before it sets
  * the timer. All in milliseconds.
  */
private final class WindowProcessor(size: Long, slide: Long)
    extends StatefulProcessor[Int, Event, Result] {

  @transient private var frames: MapState[Long, Frame] = _

  override def init(mode: OutputMode, time: TimeMode): Unit =
    frames = getHandle.getMapState(
      "frames",
      Encoders.scalaLong,
      Encoders.product[Frame],
      TTLConfig.NONE
    )

  override def handleInputRows(
      key: Int,
      rows: Iterator[Event],
      timers: TimerValues
  ): Iterator[Result] = {
    val added = mutable.LongMap.empty[Frame]
    rows.foreach { event =>
      val start = event.millis - Math.floorMod(event.millis, slide)
      added.getOrElseUpdate(start, Frame.empty).add(event.value)
    }
    added.foreachEntry(save)
    Iterator.empty
  }

  private def save(start: Long, added: Frame): Unit = {
    val known = frames.getValue(start)
    if (known == null) getHandle.registerTimer(start + slide)
    frames.updateValue(start, if (known == null) added else known.merge(added))
  }

  override def handleExpiredTimer(
      key: Int,
      timers: TimerValues,
      expired: ExpiredTimerInfo
  ): Iterator[Result] = {
    val known = frames.iterator().toArray
    val first = expired.getExpiryTimeInMs()
    val ends = first +: gap(first, known).takeWhile(_ <= timers.getCurrentWatermarkInMs())
    val results = ends.map(end => result(key, end, known))
    val next = ends.last + slide
    known.foreach { case (start, _) => if (start < next - size) frames.removeKey(start) }
    if (gap(ends.last, known).nonEmpty) getHandle.registerTimer(next)
    results.iterator
  }

  /** The ends of the windows after `end` that no frame has set a timer for, since the slide before
    * them has none, and that have frames all the same.
    */
  private def gap(end: Long, known: Array[(Long, Frame)]): List[Long] = {
    val starts = known.map(_._1)
    val newest = starts.filter(_ < end).max
    val next = starts.filter(_ >= end).minOption.getOrElse(Long.MaxValue)
    Iterator.iterate(end + slide)(_ + slide).takeWhile(e => e <= next && e - size <= newest).toList
  }

  private def result(key: Int, end: Long, known: Array[(Long, Frame)]): Result = {
    val all = Frame.empty
    known.foreach { case (start, frame) =>
      if (start >= end - size && start < end) all.merge(frame)
    }
    Result(Window(new Timestamp(end - size), new Timestamp(end)), key, all.n, all.total, all.most)
  }
}
