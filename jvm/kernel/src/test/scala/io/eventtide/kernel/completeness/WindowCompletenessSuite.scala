package io.eventtide.kernel.completeness

import scala.collection.mutable.ArrayBuffer

import org.scalacheck.Gen
import org.scalactic.Tolerance
import org.scalatest.funsuite.AnyFunSuite
import org.scalatestplus.scalacheck.ScalaCheckPropertyChecks

import io.eventtide.kernel.Saved
import io.eventtide.kernel.disorder.DisorderHistogram
import io.eventtide.kernel.time.Frame
import io.eventtide.kernel.window.{
  LateRule,
  Profile,
  Sliding,
  WindowGenerators,
  WindowShape,
  WindowSpec
}

final class WindowCompletenessSuite
    extends AnyFunSuite
    with ScalaCheckPropertyChecks
    with Tolerance {
  import WindowCompletenessSuite._

  private val specs = for {
    shape <- Gen.oneOf(WindowGenerators.shapes, WindowGenerators.spacedShapes)
    size <- Gen.choose(1L, 9L)
    offset <- Gen.choose(0L, size - 1)
    profile <- Gen.oneOf(Profile.eventtide, Profile.jet, Profile.flink)
    delay <- Gen.oneOf(0L, 5L)
  } yield WindowSpec(Frame(size, offset), shape, profile, delay)

  private val batches = Gen.listOf(
    for {
      times <- Gen.listOf(Gen.frequency(9 -> Gen.choose(-40L, 200L), 1 -> Gen.choose(-900L, 900L)))
      watermark <- Gen.choose(-50L, 250L)
    } yield Batch(times, watermark)
  )

  test("each window with rows is closed once, with the number of its rows") {
    forAll(specs, batches) { (spec, batches) =>
      val rows = played(spec, batches)
      assert(closed(rows.state).map(of => (of.start, of.end, of.rows)) == rows.windows)
    }
  }

  test("a late row counts for each of its windows that has closed") {
    forAll(specs, batches) { (spec, batches) =>
      val rows = played(spec, batches)
      foreach(rows.state) { (window, late) =>
        val frames = spec.frames.index(window.start) until spec.frames.index(window.end)
        val oldest = closed(rows.state).head.start
        val expected = rows.late.count { time =>
          frames.contains(spec.frames.index(time)) &&
          spec.frames.start(spec.frames.index(time)) >= oldest
        }
        assert(late == expected)
      }
    }
  }

  test("a restored state goes on as the saved one") {
    forAll(specs, batches, batches) { (spec, before, after) =>
      val first = new Player(spec)
      val whole = Saved.by(first.state.save(_, whole = true))
      val changes = before.grouped(2).toSeq.map { some =>
        some.foreach(first.play)
        Saved.by(first.state.save(_, whole = false))
      }
      val restored = newState(spec)
      (whole +: changes).foreach(_.into(restored.restore))
      val second = first.continuedWith(restored)
      after.foreach(first.play)
      after.foreach(second.play)
      val saved = Seq(first, second).map(of => Saved.by(of.state.save(_, whole = true)))
      assert(saved.distinct.length == 1)
    }
  }

  test("windows beyond the limit are forgotten, the oldest first") {
    val player = new Player(WindowSpec(Frame(10), WindowShape.OneFrame), keep = 2)
    (0L until 5L).foreach(i => player.play(Batch(Seq(i * 10), (i + 1) * 10)))
    assert(closed(player.state).map(_.end) == Seq(40, 50))
    assert(closedWindows(player.state).forgotten == 2)
  }

  test("rows that are expected are those of the disorder beyond the lag") {
    val state = newState(WindowSpec(Frame(10), WindowShape.OneFrame))
    val disorder = new DisorderHistogram
    disorder.addInOrder(60)
    (1 to 20).foreach(_ => disorder.add(5))
    (1 to 20).foreach(_ => disorder.add(15))
    val rows = new FrameRows
    (1 to 90).foreach(_ => rows.onTime.add(0))
    state.observe(ClosingBatch(0, 0, None, reached = 0), new FrameRows, disorder)
    state.observe(ClosingBatch(1, 0, Some(1), reached = 10), rows, new DisorderHistogram)
    // A fifth of the rows is up to 5 behind, half of which have come; a fifth is 15 behind.
    val share = 0.2 * 0.5 + 0.2
    val missing = closed(state).map(_.missing)
    assert(missing.length == 1)
    assert(math.abs(missing.head - 90 * share / (1 - share)) < 1e-9)
  }

  test("without disorder, the rows that are expected are not known") {
    val state = newState(WindowSpec(Frame(10), WindowShape.OneFrame))
    val rows = new FrameRows
    rows.onTime.add(0)
    state.observe(ClosingBatch(0, 0, Some(1), reached = 10), rows, new DisorderHistogram)
    assert(closed(state).map(_.missing.isNaN) == Seq(true))
  }

  test("windows of which more is missing than was expected correct the share of later ones") {
    val state = newState(WindowSpec(Frame(10), WindowShape.OneFrame))
    val disorder = new DisorderHistogram
    disorder.addInOrder(50)
    disorder.add(10, 50)
    state.observe(ClosingBatch(0, 0, None, reached = 0), new FrameRows, disorder)
    assert(share(state, 10, 0) === 0.5 +- 1e-9)
    state.observe(ClosingBatch(1, 0, Some(1), 10), rowsOf(onTime = 150), new DisorderHistogram)
    state.observe(ClosingBatch(2, 0, Some(1), 10), rowsOf(late = 750), new DisorderHistogram)
    assert(share(state, 20, 10) === 0.2 +- 1e-9) // (150 + 100 / 2) of 1000
    assert(share(state, 25, 10) === 0.75 +- 1e-9) // of another step
  }

  test("rows that are late while their window is open count when it closes") {
    val rule = Profile.eventtide.copy(lateRule = LateRule.BehindWatermark)
    val state = newState(WindowSpec(Frame(10), WindowShape.OneFrame, rule))
    val disorder = new DisorderHistogram
    disorder.addInOrder(50)
    disorder.add(10, 50)
    state.observe(ClosingBatch(0, 0, None, reached = 0), rowsOf(onTime = 1), disorder)
    state.observe(ClosingBatch(1, 0, Some(1), 10), new FrameRows, new DisorderHistogram)
    val rows = Seq(150L -> 0L, 0L -> 700L, 0L -> 50L)
    rows.zipWithIndex.foreach { case ((onTime, late), i) =>
      val boundary = if (i < 2) 1L else 2L
      val batch = ClosingBatch(2L + i, 0, Some(boundary), reached = 20)
      state.observe(batch, rowsOf(onTime, late, frame = 1), new DisorderHistogram)
    }
    assert(share(state, 30, 20) === 1 - 800.0 / 1001 +- 1e-9) // 750 of 901, and a half of 100
  }

  test("a row on time counts as missing for the sliding windows that have closed") {
    val state = newState(WindowSpec(Frame(5), Sliding(2)))
    val disorder = new DisorderHistogram
    disorder.addInOrder(50)
    disorder.add(10, 50)
    state.observe(ClosingBatch(0, 0, None, reached = 0), new FrameRows, disorder)
    state.observe(ClosingBatch(1, 0, Some(2), 10), rowsOf(onTime = 150), new DisorderHistogram)
    val second = new FrameRows
    second.onTime.add(1, 750) // of [0, 10), which has closed, and of [5, 15)
    state.observe(ClosingBatch(2, 0, Some(2), 10), second, new DisorderHistogram)
    assert(share(state, 20, 10) === 0.2 +- 1e-9)
  }

  test("with more frames than can be counted, their windows are left out") {
    val spec = WindowSpec(Frame(10), WindowShape.OneFrame)
    val open = new OpenFrames(spec, most = 3)
    val counts = new FrameCounts
    (0L until 4L).foreach(counts.add)
    open.add(counts)
    val next = new FrameCounts
    (3L until 6L).foreach(next.add)
    open.add(next)
    val found = ArrayBuffer.empty[Long]
    open.close(10)((_, end, _) => found += end: Unit)
    assert(found == Seq(5, 6))
  }
}

private object WindowCompletenessSuite {

  /** The share of the window of ten from `start`. */
  def share(state: WindowCompleteness, reached: Long, start: Long): Double =
    state.sharesAt(reached).of(start, start + 10)

  /** Rows of a frame. */
  def rowsOf(onTime: Long = 0, late: Long = 0, frame: Long = 0): FrameRows = {
    val rows = new FrameRows
    if (onTime > 0) rows.onTime.add(frame, onTime)
    if (late > 0) rows.late.add(frame, late)
    rows
  }

  /** Times of rows; the watermark that closes windows after them. */
  final case class Batch(times: Seq[Long], watermark: Long)

  def newState(spec: WindowSpec, keep: Int = 100000): WindowCompleteness =
    new WindowCompleteness(spec, keep, memory = 1000)

  def closedWindows(state: WindowCompleteness): ClosedWindows = {
    val windows = new ClosedWindows(Int.MaxValue)
    windows.restore(Saved.by(state.save(_, whole = true)).input)
    windows
  }

  def foreach(state: WindowCompleteness)(visit: (ClosedWindow, Long) => Unit): Unit =
    closedWindows(state).foreach(visit)

  def closed(state: WindowCompleteness): Seq[ClosedWindow] = {
    val all = ArrayBuffer.empty[ClosedWindow]
    foreach(state)((window, _) => all += window: Unit)
    all.toSeq
  }

  def played(spec: WindowSpec, batches: Seq[Batch]): Player = {
    val player = new Player(spec)
    batches.foreach(player.play)
    player
  }

  /** Runs batches, and computes the same from all rows. */
  final class Player(
      spec: WindowSpec,
      keep: Int = 100000,
      from: Option[WindowCompleteness] = None
  ) {
    val state: WindowCompleteness = from.getOrElse(newState(spec, keep))
    val late = ArrayBuffer.empty[Long]
    private val onTime = ArrayBuffer.empty[Long]
    private val found = ArrayBuffer.empty[(Long, Long, Long)]
    private var watermark = Option.empty[Long]
    private var batch = 0

    def continuedWith(restored: WindowCompleteness): Player = {
      val other = new Player(spec, keep, Some(restored))
      other.watermark = watermark
      other.batch = batch
      other
    }

    /** The start, the end and the rows of the closed windows. */
    def windows: Seq[(Long, Long, Long)] = found.toSeq

    def play(of: Batch): Unit = {
      val below = watermark.fold(Long.MinValue)(spec.lateBelow)
      val (passed, missed) = of.times.partition(_ >= below)
      val rows = new FrameRows
      passed.foreach(time => rows.onTime.add(spec.frames.index(time)))
      missed.foreach(time => rows.late.add(spec.frames.index(time)))
      onTime ++= passed
      val next = math.max(of.watermark, watermark.getOrElse(Long.MinValue))
      close(watermark.fold(Long.MinValue)(spec.closed), spec.closed(next))
      late ++= missed
      watermark = Some(next)
      val closing = ClosingBatch(batch, batch, Some(spec.closed(next)), next)
      val disorder = new DisorderHistogram
      of.times.foreach(time => disorder.add(math.max(0, next - time)))
      state.observe(closing, rows, disorder)
      batch += 1
    }

    private def close(after: Long, upTo: Long): Unit = {
      val frames = onTime.map(spec.frames.index)
      val missed = late.map(spec.frames.index)
      val ends = (frames ++ missed).flatMap(endsOf).distinct.sorted.filter { end =>
        end > after && end <= upTo
      }
      ends.foreach { end =>
        val first = spec.shape.start(end)
        val rows = frames.count(frame => frame >= first && frame < end)
        found += ((spec.grid.start(first), spec.grid.start(end), rows.toLong))
      }
    }

    private def endsOf(frame: Long): Seq[Long] =
      Iterator
        .iterate(spec.shape.endAfter(frame))(spec.shape.endAfter)
        .takeWhile(_ <= spec.shape.lastEnd(frame))
        .filter(spec.shape.start(_) <= frame)
        .toSeq
  }
}
