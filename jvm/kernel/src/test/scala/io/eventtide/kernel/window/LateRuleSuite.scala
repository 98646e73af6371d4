package io.eventtide.kernel.window

import org.scalacheck.Gen
import org.scalatest.funsuite.AnyFunSuite
import org.scalatestplus.scalacheck.ScalaCheckPropertyChecks

import io.eventtide.kernel.time.Frame
import io.eventtide.kernel.window.WindowGenerators._

/** What is late, against the windows of a row listed with numbers that cannot overflow. */
final class LateRuleSuite extends AnyFunSuite with ScalaCheckPropertyChecks {
  import LateRuleSuite._

  implicit override val generatorDrivenConfig: PropertyCheckConfiguration =
    PropertyCheckConfiguration(minSuccessful = 1000)

  for (rule <- LateRule.all)
    test(s"under ${rule.name} a row is late, or is in exactly those of its windows that are open") {
      forAll(rows) { row =>
        if (!row.isLate(rule)) {
          assert(row.open.nonEmpty)
          assert(row.results(rule) == row.open.filter(_ < FrameWindowState.Never))
        }
      }
    }

  test("under window_closed a row is late when none of its windows is open, and only then") {
    forAll(rows) { row => assert(row.isLate(LateRule.WindowClosed) == row.open.isEmpty) }
  }

  test("a row is late when its last window ends at the highest watermark there is") {
    val row = Row(Long.MaxValue - 40, Long.MaxValue, delay = 0, Frame(1), Sliding(40))
    assert(row.open.isEmpty)
    assert(row.isLate(LateRule.WindowClosed))
  }

  test("a row of a window whose end is out of range is in no result") {
    val row = Row(Long.MaxValue - 6, Long.MaxValue, delay = 0, Frame(1), Cumulative(7, 1))
    assert(!row.isLate(LateRule.WindowClosed) && row.results(LateRule.WindowClosed).isEmpty)
  }

  test("under frame_closed a row is late when its frame has ended by the watermark") {
    forAll(rows) { row =>
      assert(row.isLate(LateRule.FrameClosed) == (row.endOf(row.frame + 1) <= row.effective))
    }
  }

  test("under behind_watermark a row is late when it is below the watermark, less the delay") {
    forAll(rows) { row =>
      assert(row.isLate(LateRule.BehindWatermark) == (BigInt(row.ts) < row.effective))
    }
  }

  for (rule <- LateRule.all)
    test(s"under ${rule.name} a row is late from one watermark on") {
      forAll(rows) { row =>
        val from = row.lateFrom(rule)
        if (from < Long.MaxValue) assert(row.isLate(rule) == (row.watermark >= from))
      }
    }

  test("a rule makes no less late as the watermark rises") {
    forAll(rows, numbers) { (row, watermark) =>
      val higher = row.copy(watermark = math.max(row.watermark, watermark))
      LateRule.all.foreach(rule => assert(!row.isLate(rule) || higher.isLate(rule)))
    }
  }
}

object LateRuleSuite {

  /** A row that comes when the watermark is known. */
  final case class Row(ts: Long, watermark: Long, delay: Long, grid: Frame, shape: WindowShape) {
    val frame: BigInt = (BigInt(ts) - grid.offset - (BigInt(ts) - grid.offset).mod(grid.size)) /
      grid.size

    val effective: BigInt = BigInt(watermark) - delay

    def endOf(boundary: BigInt): BigInt = boundary * grid.size + grid.offset

    /** The boundaries at which the row's windows end that are not closed. */
    def open: Seq[BigInt] =
      (frame + 1 to lastEnd).filter(end => endOf(end) > effective)

    private def lastEnd: BigInt = shape match {
      case sliding: Sliding => frame + sliding.frames
      case Cumulative(frames, phase) => frame - (frame - phase).mod(frames) + frames
    }

    def isLate(rule: LateRule): Boolean = ts < spec(rule).lateBelow(watermark)

    def lateFrom(rule: LateRule): Long = spec(rule).lateFrom(ts)

    private def spec(rule: LateRule): WindowSpec =
      WindowSpec(grid, shape, Profile("of the rule", lateRule = rule), delay)

    /** The ends of the windows that a state gives which gets this row and nothing else. */
    def results(rule: LateRule): Seq[BigInt] = {
      val buffers = new ObjectBufferPool
      val state =
        FrameWindowState(shape, buffers, FrameCombining.Merge, new MemoryArchive, blockSize = 4)
      val closed = spec(rule).closed(watermark)
      state.begin(closed)
      val isTaken = state.add(grid.index(ts), buffers.of(1))
      assert(isTaken || closed == FrameWindowState.Never) // a row of windows that never close
      Iterator
        .continually(state.next(FrameWindowState.Never))
        .takeWhile(identity)
        .map { _ =>
          assert(buffers(state.result) == Seq(1))
          BigInt(state.end)
        }
        .toList
    }
  }

  val rows: Gen[Row] = for {
    grid <- grids
    shape <- shapes
    watermark <- numbers
    ts <- Gen.oneOf(numbers, Gen.choose(-300L, 300L).map(_ + watermark))
    delay <- Gen.oneOf(Gen.const(0L), Gen.choose(0L, 100L), Gen.choose(0L, Long.MaxValue))
  } yield Row(ts, watermark, delay, grid, shape)
}
