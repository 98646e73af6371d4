package io.eventtide.benchmarks

import java.util.concurrent.TimeUnit

import org.openjdk.jmh.annotations._

import io.eventtide.kernel.completeness.FrameCounts
import io.eventtide.kernel.time.Frame

/** What a task does for each row of a window: the frame of the row, and its count. */
@State(Scope.Thread)
@BenchmarkMode(Array(Mode.AverageTime))
@OutputTimeUnit(TimeUnit.NANOSECONDS)
class FrameCountsBenchmark {
  private val events = new Events
  private val frame = Frame(1000000L)
  private val counts = new FrameCounts

  /** Event times in microseconds, so that a frame is a second. */
  private val Micros = 1000L

  @Benchmark @OperationsPerInvocation(Events.Count)
  def frames(): Long = {
    val shift = events.nextPass()
    var sum = 0L
    var i = 0
    while (i < Events.Count) {
      sum += frame.index((events.time(i) + shift) * Micros)
      i += 1
    }
    sum
  }

  @Benchmark @OperationsPerInvocation(Events.Count)
  def divided(): Long = {
    val shift = events.nextPass()
    var sum = 0L
    var i = 0
    while (i < Events.Count) {
      sum += Math.floorDiv((events.time(i) + shift) * Micros, frame.size)
      i += 1
    }
    sum
  }

  @Benchmark @OperationsPerInvocation(Events.Count)
  def counted(): Long = {
    val shift = events.nextPass()
    var i = 0
    while (i < Events.Count) {
      counts.add(frame.index((events.time(i) + shift) * Micros))
      i += 1
    }
    counts.highest
  }
}
