package io.eventtide.benchmarks

import java.util.concurrent.TimeUnit

import org.openjdk.jmh.annotations._

import io.eventtide.kernel.disorder.DisorderHistogram
import io.eventtide.kernel.watermark.EventTimeStats

/** What a task does for each row: its extremes, with or without its disorder.
  *
  * Nearly all events are out of order, so nearly each of them is counted.
  */
@State(Scope.Thread)
@BenchmarkMode(Array(Mode.AverageTime))
@OutputTimeUnit(TimeUnit.NANOSECONDS)
class DisorderBenchmark {
  private val events = new Events
  private val stats = new EventTimeStats
  private val disorder = new DisorderHistogram
  private var reached = Long.MinValue

  @Benchmark @OperationsPerInvocation(Events.Count)
  def extremes(): Long = {
    val shift = events.nextPass()
    var i = 0
    while (i < Events.Count) {
      stats.add(events.time(i) + shift)
      i += 1
    }
    stats.max
  }

  @Benchmark @OperationsPerInvocation(Events.Count)
  def withDisorder(): Long = {
    val shift = events.nextPass()
    var i = 0
    while (i < Events.Count) {
      val pause = i + Events.Pause
      while (i < pause) {
        val time = events.time(i) + shift
        stats.add(time)
        if (time < reached) disorder.add(reached - time)
        i += 1
      }
      reached = stats.max
    }
    stats.max + disorder.rows
  }
}
