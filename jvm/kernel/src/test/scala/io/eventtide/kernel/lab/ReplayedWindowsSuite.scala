package io.eventtide.kernel.lab

import scala.collection.mutable

import org.scalatest.funsuite.AnyFunSuite

import io.eventtide.kernel.InvalidArgument
import io.eventtide.kernel.time.Frame
import io.eventtide.kernel.window.{Cumulative, Sliding, WindowShape, WindowSpec}

final class ReplayedWindowsSuite extends AnyFunSuite {
  import ReplayedWindowsSuite._

  test(
    "a window is open from its first row until it closes, and its result is as late as the clock"
  ) {
    val windows = new ReplayedWindows(WindowSpec(Frame(10), WindowShape.OneFrame, delay = 3))
    windows.add(0, 2)
    windows.add(2, 1)
    assert(windows.open == 2 && windows.mostKeys == 3 && windows.awaits.contains(13L))
    windows.close(watermark = 12, now = 20)
    assert(windows.open == 2)
    windows.close(watermark = 13, now = 21)
    assert(windows.open == 1 && windows.awaits.contains(33L))
    windows.close(watermark = 50, now = 70)
    assert(windows.open == 0 && windows.awaits.isEmpty && windows.mostOpen == 2)
    assert(windows.delays.quantile(0.5).contains(11L) && windows.delays.quantile(0.9).contains(40L))
  }

  test("windows that end at some boundaries only are refused") {
    intercept[InvalidArgument](new ReplayedWindows(WindowSpec(Frame(10), Sliding(4, every = 2))))
  }

  for (shape <- Seq(WindowShape.OneFrame, Sliding(5), Cumulative(4, phase = 1)); seed <- 1 to 20)
    test(s"$shape, seed $seed: as the windows of all rows") {
      val spec = WindowSpec(Frame(7, 2), shape, delay = seed % 3)
      val (windows, model) = (new ReplayedWindows(spec), new Model(spec))
      val random = new scala.util.Random(seed.toLong)
      var watermark = 0L
      (1 to 300).foreach { now =>
        val time = watermark + random.nextInt(80)
        if (time >= spec.lateBelow(watermark)) {
          val key = random.nextInt(4)
          windows.add(spec.frames.index(time), if (model.add(time, key)) 1 else 0)
        }
        if (random.nextInt(4) == 0) watermark += random.nextInt(40)
        assert(windows.awaits == model.awaits)
        windows.close(watermark, now.toLong)
        model.close(watermark, now.toLong)
        assert(windows.open == model.open.size.toLong)
      }
      assert(windows.mostOpen >= windows.open && windows.mostKeys == model.mostKeys)
      val shares = Seq(0.01, 0.5, 0.9, 1.0)
      assert(shares.map(windows.delays.quantile) == shares.map(model.quantile))
    }
}

private object ReplayedWindowsSuite {

  /** All windows with rows, one by one. */
  final class Model(spec: WindowSpec) {
    val open = mutable.TreeSet.empty[Long] // ends
    private val held = mutable.HashSet.empty[(Long, Int)]
    private val delays = mutable.ArrayBuffer.empty[Long]
    private var closed = Long.MinValue
    var mostKeys = 0L

    /** Whether the frame did not have the key. */
    def add(time: Long, key: Int): Boolean = {
      val frame = spec.frames.index(time)
      open ++= (frame + 1 to spec.shape.lastEnd(frame)).filter(_ > closed)
      val isNew = held.add(frame -> key)
      mostKeys = math.max(mostKeys, held.size.toLong)
      isNew
    }

    def awaits: Option[Long] = open.headOption.map(spec.closesAt)

    def close(watermark: Long, now: Long): Unit = {
      closed = math.max(closed, spec.closed(watermark))
      open.filter(_ <= closed).foreach { end =>
        delays += now - spec.grid.start(end)
        open -= end
      }
      held.filterInPlace { case (frame, _) => spec.shape.lastEnd(frame) > closed }: Unit
    }

    def quantile(share: Double): Option[Long] =
      delays.sorted.lift(math.max(0, math.ceil(share * delays.length).toInt - 1))
  }
}
