package io.eventtide.kernel.window

import org.scalacheck.{Gen, Shrink}
import org.scalatest.funsuite.AnyFunSuite
import org.scalatestplus.scalacheck.ScalaCheckPropertyChecks

import io.eventtide.kernel.InvalidArgument

final class CountWindowsSuite extends AnyFunSuite with ScalaCheckPropertyChecks {
  private val buffers = new ObjectBufferPool
  private type Window = (Long, Long, Seq[Int])
  private implicit val asGenerated: Shrink[Int] = Shrink.shrinkAny

  private def windows(spec: CountSpec): CountWindows = {
    def state() =
      FrameWindowState(
        spec.shape,
        buffers,
        FrameCombining.Merge,
        BlockStore.None,
        Int.MaxValue
      )
    val made = new CountWindows(spec, state _)
    made.begin()
    made
  }

  /** Adds rows by their numbers, one at a time, with a new instance for each. */
  private def outputs(
      spec: CountSpec,
      rows: Range,
      from: CountWindows
  ): (Seq[Window], CountWindows) =
    rows.foldLeft((Seq.empty[Window], from)) { case ((before, now), row) =>
      assert(now.add(0, buffers.of(row)))
      (before ++ all(now.next(0), now), again(spec, now))
    }

  private def all(next: => Boolean, from: CountWindows): Seq[Window] =
    Iterator
      .continually(next)
      .takeWhile(identity)
      .map(_ => (from.start, from.end, buffers(from.result).sorted))
      .toSeq

  private def again(spec: CountSpec, from: CountWindows): CountWindows = {
    val sink = new ByteSink
    from.write(sink)
    val source = new ByteSource
    source.reset(sink.bytes, 0)
    val made = windows(spec)
    made.read(source)
    made
  }

  test("each slide ends a window with the last rows") {
    forAll(Gen.choose(1, 12), Gen.choose(1, 12), Gen.choose(0, 60)) { (one, other, rows) =>
      val (size, slide) = (math.max(one, other), math.min(one, other))
      val spec = CountSpec(size, slide)
      val ends = slide to rows by slide
      val expected = ends.map { end =>
        val first = math.max(0, end - size)
        (first.toLong, end.toLong, first until end)
      }
      assert(outputs(spec, 0 until rows, windows(spec))._1 == expected)
    }
  }

  test("what is left is given as a last window, and the next ones begin anew") {
    forAll(Gen.choose(1, 12), Gen.choose(1, 12), Gen.choose(0, 30), Gen.choose(0, 30)) {
      (one, other, before, after) =>
        val (size, slide) = (math.max(one, other), math.min(one, other))
        val spec = CountSpec(size, slide)
        val (_, held) = outputs(spec, 0 until before, windows(spec))
        val left = Option.when(before % slide > 0) {
          val first = math.max(0, (before / slide + 1) * slide - size)
          (first.toLong, before.toLong, first until before)
        }
        assert(all(held.nextOfAll(), held) == left.toSeq)
        assert(held.isEmpty)
        val more = outputs(spec, before until before + after, again(spec, held))._1
        val anew = outputs(spec, 0 until after, windows(spec))._1
        assert(more == anew.map { case (start, end, rows) =>
          (start + before, end + before, rows.map(_ + before))
        })
    }
  }

  test("results of a window that no slide has ended are counted with its last one") {
    val held = windows(CountSpec(5, 2))
    assert(held.add(0, buffers.of(0)))
    assert(held.nextOpen())
    held.count()
    held.settle(None)
    assert(held.nextOfAll() && held.index == 1)
  }

  test("windows without rows, and slides that leave rows out, are refused") {
    assertThrows[InvalidArgument](CountSpec(0, 1))
    assertThrows[InvalidArgument](CountSpec(3, 0))
    assertThrows[InvalidArgument](CountSpec(3, 4))
  }
}
