package io.eventtide.benchmarks

import java.time.Duration
import java.util.concurrent.TimeUnit

import com.hazelcast.jet.core.{WatermarkPolicy => JetPolicy}
import org.apache.flink.api.common.eventtime.BoundedOutOfOrdernessWatermarks
import org.apache.flink.api.common.eventtime.Watermark
import org.apache.flink.api.common.eventtime.WatermarkOutput
import org.openjdk.jmh.annotations._

/** A running maximum, which every policy by event times needs, and the bare policies of Jet and Flink.
  *
  * Each is read at every event and, as Flink does it by itself, once in 1,000.
  */
@State(Scope.Thread)
@BenchmarkMode(Array(Mode.AverageTime))
@OutputTimeUnit(TimeUnit.NANOSECONDS)
class BaselineBenchmark {
  private val events = new Events
  private val item = Integer.valueOf(7)
  private val jet = JetPolicy.limitingLag(Events.Lag).get()
  private val jetClock = JetPolicy.limitingRealTimeLag(60000).get()
  private val flink = new BoundedOutOfOrdernessWatermarks[Integer](Duration.ofMillis(Events.Lag))
  private val output = new LastWatermark
  private var top = Long.MinValue

  @Benchmark @OperationsPerInvocation(Events.Count)
  def maximumEveryEvent(): Long = {
    val shift = events.nextPass()
    var highest = top
    var sum = 0L
    var i = 0
    while (i < Events.Count) {
      highest = Math.max(highest, events.time(i) + shift)
      sum += highest - Events.Lag
      i += 1
    }
    top = highest
    sum
  }

  @Benchmark @OperationsPerInvocation(Events.Count)
  def maximumPeriodic(): Long = {
    val shift = events.nextPass()
    var highest = top
    var sum = 0L
    var i = 0
    while (i < Events.Count) {
      val end = i + Events.Pause
      while (i < end) { highest = Math.max(highest, events.time(i) + shift); i += 1 }
      sum += highest - Events.Lag
    }
    top = highest
    sum
  }

  @Benchmark @OperationsPerInvocation(Events.Count)
  def jetEveryEvent(): Long = everyEvent(jet)

  @Benchmark @OperationsPerInvocation(Events.Count)
  def jetPeriodic(): Long = periodic(jet)

  /** It reads the system's clock whenever it is asked, so asking seldom is its best mode. */
  @Benchmark @OperationsPerInvocation(Events.Count)
  def jetRealTimePeriodic(): Long = periodic(jetClock)

  @Benchmark @OperationsPerInvocation(Events.Count)
  def flinkEveryEvent(): Long = {
    val policy = flink
    val shift = events.nextPass()
    var sum = 0L
    var i = 0
    while (i < Events.Count) {
      policy.onEvent(item, events.time(i) + shift, output)
      policy.onPeriodicEmit(output)
      sum += output.last
      i += 1
    }
    sum
  }

  @Benchmark @OperationsPerInvocation(Events.Count)
  def flinkPeriodic(): Long = {
    val policy = flink
    val shift = events.nextPass()
    var sum = 0L
    var i = 0
    while (i < Events.Count) {
      val end = i + Events.Pause
      while (i < end) { policy.onEvent(item, events.time(i) + shift, output); i += 1 }
      policy.onPeriodicEmit(output)
      sum += output.last
    }
    sum
  }

  private def everyEvent(policy: JetPolicy): Long = {
    val shift = events.nextPass()
    var sum = 0L
    var i = 0
    while (i < Events.Count) {
      policy.reportEvent(events.time(i) + shift)
      sum += policy.getCurrentWatermark
      i += 1
    }
    sum
  }

  private def periodic(policy: JetPolicy): Long = {
    val shift = events.nextPass()
    var sum = 0L
    var i = 0
    while (i < Events.Count) {
      val end = i + Events.Pause
      while (i < end) { policy.reportEvent(events.time(i) + shift); i += 1 }
      sum += policy.getCurrentWatermark
    }
    sum
  }
}

/** Keeps the last watermark. */
private final class LastWatermark extends WatermarkOutput {
  var last = 0L

  override def emitWatermark(watermark: Watermark): Unit = last = watermark.getTimestamp

  override def markIdle(): Unit = ()

  override def markActive(): Unit = ()
}
