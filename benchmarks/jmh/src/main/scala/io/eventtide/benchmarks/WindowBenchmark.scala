package io.eventtide.benchmarks

import java.util.concurrent.TimeUnit

import org.openjdk.jmh.annotations._

/** Results a second of one key's sliding window, a row and a result for each frame.
  *
  * As in a query, the key's record is read before and written after each result. `recompute` keeps
  * the frames in one record and merges all of them, which is the naive way.
  */
@State(Scope.Thread)
@BenchmarkMode(Array(Mode.Throughput))
@OutputTimeUnit(TimeUnit.SECONDS)
class WindowBenchmark {
  @Param(Array("60", "3600"))
  var frames: Int = _

  @Param(Array("two stacks", "deduct", "recompute"))
  var combining: String = _

  @Param(Array("64"))
  var blockSize: Int = _

  private var window: OneKey = _

  /** Starts with a full window, whose result is known. */
  @Setup def fill(): Unit = {
    window =
      if (combining == "recompute") new RecomputedKey(frames)
      else new RingKey(frames, combining == "deduct", blockSize)
    (1 to 2 * frames).foreach(_ => window.result())
    if (window.result() != frames) throw new IllegalStateException(s"$combining is wrong")
  }

  @Benchmark def result(): Long = window.result()
}
