package io.eventtide.benchmarks

import java.util.concurrent.TimeUnit

import org.openjdk.jmh.annotations._

import io.eventtide.kernel.watermark.WatermarkPolicy

/** One bare policy of ours: a call for each event, and its watermark read as often as is said.
  *
  * The clock moves once in 1,000 events.
  */
@State(Scope.Thread)
@BenchmarkMode(Array(Mode.AverageTime))
@OutputTimeUnit(TimeUnit.NANOSECONDS)
class PolicyBenchmark {
  @Param(Array("with_fixed_lag"))
  var policy: String = _

  private val events = new Events
  private var instance: WatermarkPolicy = _
  private var clock = 0L

  @Setup def create(): Unit = instance = Specs.named(policy).create()

  @Benchmark @OperationsPerInvocation(Events.Count)
  def everyEvent(): Long = {
    val policy = instance
    val shift = events.nextPass()
    var sum = 0L
    var i = 0
    while (i < Events.Count) {
      clock += 1
      val now = clock
      val end = i + Events.Pause
      while (i < end) {
        policy.observe(now, events.time(i) + shift)
        sum += policy.watermark
        i += 1
      }
    }
    sum
  }

  @Benchmark @OperationsPerInvocation(Events.Count)
  def periodic(): Long = {
    val policy = instance
    val shift = events.nextPass()
    var sum = 0L
    var i = 0
    while (i < Events.Count) {
      clock += 1
      val now = clock
      val end = i + Events.Pause
      while (i < end) { policy.observe(now, events.time(i) + shift); i += 1 }
      sum += policy.watermark
    }
    sum
  }
}
