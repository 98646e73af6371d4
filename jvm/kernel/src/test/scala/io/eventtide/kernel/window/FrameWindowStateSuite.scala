package io.eventtide.kernel.window

import org.scalatest.OneInstancePerTest
import org.scalatest.funsuite.AnyFunSuite

/** What a state does on the way; that its results are right is in `FrameWindowStateLawsSuite`. */
final class FrameWindowStateSuite extends AnyFunSuite with OneInstancePerTest {
  private val buffers = new ObjectBufferPool
  private val archive = new MemoryArchive

  private def state(
      shape: WindowShape,
      deducts: Boolean = false,
      blockSize: Int = 4
  ): FrameWindowState = {
    val made = FrameWindowState(shape, buffers, FrameCombining(deducts), archive, blockSize)
    made.begin(0)
    made
  }

  private def results(state: FrameWindowState, boundary: Long): Seq[(Long, Seq[Int])] =
    Iterator
      .continually(state.next(boundary))
      .takeWhile(identity)
      .map(_ => state.end -> buffers(state.result).sorted)
      .toList

  private def add(state: FrameWindowState, frame: Long, row: Int): Boolean = {
    val added = buffers.of(row)
    val taken = state.add(frame, added)
    buffers.release(added)
    taken
  }

  test("a state without frames has no timer") {
    val empty = state(Sliding(3))
    assert(empty.isEmpty)
    assert(empty.due == FrameWindowState.Never)
    assert(results(empty, 100).isEmpty)
  }

  test("a sliding window gives each frame to as many results as it has frames") {
    val sliding = state(Sliding(3))
    assert(add(sliding, 5, 1))
    assert(add(sliding, 6, 2))
    assert(sliding.due == 6)
    assert(results(sliding, 7) == Seq(6L -> Seq(1), 7L -> Seq(1, 2)))
    assert(sliding.due == 8)
    assert(results(sliding, 20) == Seq(8L -> Seq(1, 2), 9L -> Seq(2)))
    assert(sliding.isEmpty)
  }

  test("a tumbling window gives each frame once") {
    val tumbling = state(Sliding(1))
    assert(add(tumbling, 5, 1))
    assert(add(tumbling, 7, 2))
    assert(add(tumbling, 5, 3))
    assert(results(tumbling, 9) == Seq(6L -> Seq(1, 3), 8L -> Seq(2)))
    assert(tumbling.isEmpty)
  }

  test("windows that cumulate grow up to their size and begin anew") {
    val cumulating = state(Cumulative(3))
    Seq(3L, 5L, 6L).zipWithIndex.foreach { case (frame, row) => add(cumulating, frame, row) }
    val due =
      Seq(4L -> Seq(0), 5L -> Seq(0), 6L -> Seq(0, 1), 7L -> Seq(2), 8L -> Seq(2), 9L -> Seq(2))
    assert(results(cumulating, 20) == due)
    assert(cumulating.isEmpty)
  }

  test("a row for a closed frame is in the windows that are still open") {
    val sliding = state(Sliding(3))
    add(sliding, 5, 1)
    assert(results(sliding, 6) == Seq(6L -> Seq(1)))
    assert(add(sliding, 4, 2))
    assert(results(sliding, 10) == Seq(7L -> Seq(1, 2), 8L -> Seq(1)))
  }

  test("a row all of whose windows are closed is refused and changes nothing") {
    val sliding = state(Sliding(3))
    add(sliding, 5, 1)
    assert(results(sliding, 7).length == 2)
    assert(!add(sliding, 4, 2))
    assert(results(sliding, 10) == Seq(8L -> Seq(1)))
  }

  test("rows at both ends of time cost nothing and give their windows") {
    val sliding = state(Sliding(60))
    sliding.begin(Long.MinValue)
    add(sliding, -9223372036854776L, 1)
    add(sliding, 9223372036854775L, 2)
    assert(results(sliding, 0).length == 60)
    assert(results(sliding, 9223372036854776L) == Seq(9223372036854776L -> Seq(2)))
    assert(buffers.merges < 300)
  }

  test("the last frame of all is never closed") {
    val tumbling = state(Sliding(1))
    add(tumbling, Long.MaxValue, 1)
    assert(results(tumbling, Long.MaxValue).isEmpty)
    assert(!tumbling.isEmpty)
  }

  for (deducts <- Seq(true, false))
    test(s"a long window costs a few merges and blocks a result, deducting: $deducts") {
      val frames = 1000
      val long = state(Sliding(frames), deducts, blockSize = 32)
      for (frame <- 0 until frames * 2) {
        add(long, frame.toLong, frame)
        results(long, frame.toLong)
      }
      buffers.merges = 0
      archive.reads = 0
      archive.writes = 0
      for (frame <- frames * 2 until frames * 4) {
        add(long, frame.toLong, frame)
        assert(results(long, frame.toLong) == Seq(frame.toLong -> (frame - frames until frame)))
      }
      assert(buffers.merges < 2 * frames * 8)
      assert(archive.reads < 2 * frames / 32 + 2)
      assert(archive.writes < 2 * frames / 32 + 2)
      assert(archive.size <= frames / 32 + 1)
    }

  test("frames that wait for long are read and written a block at a time, also out of order") {
    val (lag, frames) = (3600, 20000)
    val order = (0 until frames).map(_.toLong).grouped(5).flatMap(_.reverse).toSeq
    var waiting = state(Sliding(1), blockSize = 8)
    var longest = 0
    order.zipWithIndex.foreach { case (frame, n) =>
      assert(add(waiting, frame, frame.toInt))
      results(waiting, n.toLong - lag).foreach { case (end, rows) => assert(rows == Seq(end - 1)) }
      val record = written(waiting)
      longest = math.max(longest, record.position)
      waiting = read(record, Sliding(1), blockSize = 8)
    }
    assert(longest < 2000)
    assert(archive.reads < frames / 30)
    assert(archive.writes < frames / 30)
    assert(archive.size < 150)
  }

  test("few frames that wait are in one record") {
    val waiting = state(Sliding(1), blockSize = 8)
    for (frame <- 0 until 1000) {
      add(waiting, frame.toLong, frame)
      results(waiting, frame - 14L)
      written(waiting)
    }
    assert((archive.reads, archive.writes) == ((0, 0)))
  }

  test("frames that come before those that wait, or between them, are put into blocks too") {
    var waiting = state(Sliding(1), blockSize = 8)
    def take(frame: Long): Unit = {
      add(waiting, frame, 0)
      waiting = read(written(waiting), Sliding(1), blockSize = 8)
    }
    for (frame <- 2000L until 1000 by -1) take(frame)
    for (n <- 0L until 50) take(1000000 * n)
    for (n <- 0L until 1000) take(2000 + n * 17 % 1000)
    assert(written(waiting).position < 2000)
    archive.reads = 0
    assert(results(waiting, 3000).map(_._1) == 1L +: (1002L to 3000L))
    assert(archive.reads < 200)
  }

  private def written(state: FrameWindowState): ByteSink = {
    val out = new ByteSink
    state.write(out)
    out
  }

  private def read(record: ByteSink, shape: WindowShape, blockSize: Int): FrameWindowState = {
    buffers.reset()
    val in = new ByteSource
    in.reset(record.bytes, 0)
    val made = state(shape, blockSize = blockSize)
    made.read(in)
    made
  }

  for (
    (shape, deducts, most) <- Seq(
      (Sliding(1), false, 3),
      (Cumulative(50), false, 4),
      (Sliding(50), true, 55),
      (Sliding(50), false, 60)
    )
  )
    test(s"thousands of results hold no more buffers than one: $shape, deducting: $deducts") {
      val busy = state(shape, deducts, blockSize = Int.MaxValue)
      for (frame <- 0 until 5000) {
        add(busy, frame.toLong, frame)
        assert(results(busy, frame + 1L).length == 1)
        add(busy, frame.toLong, frame): Unit
      }
      assert(buffers.mostLive <= most)
      results(busy, 10000)
      assert(buffers.live == 0)
    }

  test("a record of a newer version is refused by name") {
    val out = new ByteSink
    state(Sliding(3)).write(out)
    out.bytes(0) = 99
    val in = new ByteSource
    in.reset(out.bytes, 0)
    val refusal = intercept[io.eventtide.kernel.UnknownStateVersion](state(Sliding(3)).read(in))
    assert(refusal.getMessage.contains("99"))
  }
}
