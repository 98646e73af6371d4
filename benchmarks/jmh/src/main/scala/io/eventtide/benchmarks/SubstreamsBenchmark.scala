package io.eventtide.benchmarks

import java.util.concurrent.TimeUnit

import com.hazelcast.function.ToLongFunctionEx
import com.hazelcast.jet.Traverser
import com.hazelcast.jet.core.EventTimeMapper
import com.hazelcast.jet.core.EventTimePolicy
import com.hazelcast.jet.core.function.ObjLongBiFunction
import com.hazelcast.jet.core.{WatermarkPolicy => JetPolicy}
import org.openjdk.jmh.annotations._

import io.eventtide.kernel.watermark.EventTimeStats
import io.eventtide.kernel.watermark.SubstreamRows
import io.eventtide.kernel.watermark.Substreams
import io.eventtide.kernel.watermark.ThrottleByFrame

/** Rows over substreams with a frame throttle: ours row by row and by batch, and Jet's mapper.
  *
  * Jet's mapper is told the time by its caller, its best mode, and wraps no event; ours is told the
  * same. Events come to the substreams in turn or in bursts; the clock moves once in 1,000.
  */
@State(Scope.Thread)
@BenchmarkMode(Array(Mode.AverageTime))
@OutputTimeUnit(TimeUnit.NANOSECONDS)
class SubstreamsBenchmark {
  @Param(Array("1"))
  var substreams: Int = _

  @Param(Array("in turn"))
  var order: String = _

  private val events = new Events
  private var indexes: Array[Int] = _
  private var clock = 0L

  @Setup def create(): Unit = indexes = Events.substreams(order, substreams)

  @Benchmark @OperationsPerInvocation(Events.Count)
  def ours(own: OurSubstreams): Long = {
    val all = own.instance
    val shift = events.nextPass()
    var moves = 0L
    var i = 0
    while (i < Events.Count) {
      clock += 1
      val now = clock
      val end = i + Events.Pause
      while (i < end) {
        if (all.observe(now, indexes(i), events.time(i) + shift)) moves += 1
        i += 1
      }
    }
    moves
  }

  /** As Spark runs it: rows change the extremes of their substream, and a batch is told at its end. */
  @Benchmark @OperationsPerInvocation(Events.Count)
  def oursByBatch(own: OurSubstreams): Long = {
    val shift = events.nextPass()
    var moves = 0L
    var i = 0
    while (i < Events.Count) {
      clock += Events.Batch / Events.Pause
      val end = i + Events.Batch
      val seen = Array.fill(substreams)(new EventTimeStats)
      while (i < end) {
        seen(indexes(i)).add(events.time(i) + shift)
        i += 1
      }
      if (own.instance.observeBatch(clock, rowsOf(seen))) moves += 1
    }
    moves
  }

  private def rowsOf(seen: Array[EventTimeStats]): Seq[SubstreamRows] =
    seen.indices.filter(seen(_).count > 0).map(index => seen(index).of(index))

  @Benchmark @OperationsPerInvocation(Events.Count)
  def jet(own: JetSubstreams): Long = {
    val mapper = own.instance
    val item = own.item
    val shift = events.nextPass()
    var moves = 0L
    var i = 0
    while (i < Events.Count) {
      clock += 1
      val now = clock
      val end = i + Events.Pause
      while (i < end) {
        moves += watermarks(
          mapper.flatMapEvent(now, item, indexes(i), events.time(i) + shift),
          item
        )
        i += 1
      }
    }
    moves
  }

  private def watermarks(output: Traverser[AnyRef], item: Integer): Long = {
    var count = 0L
    var next = output.next()
    while (next != null) {
      if (next ne item) count += 1
      next = output.next()
    }
    count
  }
}

@State(Scope.Thread)
class OurSubstreams {
  @Param(Array("with_fixed_lag"))
  var policy: String = _

  var instance: Substreams = _

  @Setup def create(params: SubstreamsBenchmark): Unit = {
    instance = new Substreams(Specs.named(policy), Seq(ThrottleByFrame(Events.FrameSize)))
    (0 until params.substreams).foreach(i => instance.declare(i.toString, 0))
  }
}

@State(Scope.Thread)
class JetSubstreams {
  val item: Integer = Integer.valueOf(7)
  var instance: EventTimeMapper[Integer] = _

  private val timeIsGiven: ToLongFunctionEx[Integer] = null
  private val wrapsNothing: ObjLongBiFunction[Integer, Integer] = (item, _) => item

  @Setup def create(params: SubstreamsBenchmark): Unit = {
    val policy = EventTimePolicy.eventTimePolicy(
      timeIsGiven,
      wrapsNothing,
      JetPolicy.limitingLag(Events.Lag),
      Events.FrameSize,
      0L,
      0L
    )
    instance = new EventTimeMapper(policy)
    instance.addPartitions(params.substreams)
  }
}
