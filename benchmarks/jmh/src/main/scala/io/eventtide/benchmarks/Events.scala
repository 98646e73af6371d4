package io.eventtide.benchmarks

/** The event times that every benchmark reads, as a stream would bring them.
  *
  *   - '''Guarantee:''' each pass goes on where the last one ended, so that the top keeps rising;
  *     the jitter is a stateless xorshift of the index, the same in every run.
  *   - '''Units:''' milliseconds; 500 events for each of event time, back by up to 1,999.
  */
final class Events {
  private val times = Array.tabulate(Events.Count)(Events.time)
  private var passed = 0L

  /** What to add to each time in this pass. */
  def nextPass(): Long = { passed += Events.Count / Events.PerMilli; passed }

  def time(index: Int): Long = times(index)
}

object Events {

  /** The events of one pass; a literal, since an annotation needs a constant. */
  final val Count = 1000000

  /** The number of events after which the clock moves, and what is read periodically is read. */
  final val Pause = 1000

  /** The events of one micro-batch. */
  final val Batch = 500000

  final val PerMilli = 500

  final val Lag = 2000L

  /** Frame of the throttle, in event time. */
  final val FrameSize = 1000L

  private val Start = 1600000000000L

  private def time(index: Int): Long =
    Start + index / PerMilli - (((hash(index.toLong) >>> 44) * 2000L) >>> 20)

  private def hash(index: Long): Long = {
    var x = (index + 1) * 0x9e3779b97f4a7c15L
    x ^= x >>> 12
    x ^= x << 25
    x ^ (x >>> 27)
  }

  /** Which substream each event belongs to: in turn, or in bursts of 64. */
  def substreams(order: String, count: Int): Array[Int] = order match {
    case "in turn" => Array.tabulate(Count)(_ % count)
    case "bursts" => Array.tabulate(Count)(_ / 64 % count)
  }
}
