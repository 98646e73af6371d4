package io.eventtide.kernel.window

import org.scalacheck.Gen
import org.scalatest.funsuite.AnyFunSuite
import org.scalatestplus.scalacheck.ScalaCheckPropertyChecks

import io.eventtide.kernel.time.Frame

/** The engine over keys against its rules word by word, under any mixture of them. */
final class InMemoryWindowsLawsSuite extends AnyFunSuite with ScalaCheckPropertyChecks {
  import InMemoryWindowsLawsSuite._

  implicit override val generatorDrivenConfig: PropertyCheckConfiguration =
    PropertyCheckConfiguration(minSuccessful = 500)

  test("each row is late, or in exactly those of its windows that are open, whatever the rules") {
    forAll(cases) { one =>
      val expected = new AllRows(one.windows).play(one.steps)
      for (deducts <- Seq(true, false); restarts <- Seq(true, false))
        assert(new Engine(one.windows, deducts, restarts).play(one.steps) == expected)
    }
  }
}

object InMemoryWindowsLawsSuite {
  final case class Windows(grid: Frame, frames: Int, profile: Profile, delay: Long) {
    def spec: WindowSpec = WindowSpec(grid, Sliding(frames), profile, delay)
  }

  sealed trait Step
  final case class Row(key: String, ts: Long) extends Step
  final case class ForAll(watermark: Long) extends Step
  final case class ForKey(key: String, watermark: Long) extends Step

  sealed trait Outcome
  final case class Judged(late: Option[LateRule]) extends Outcome
  final case class Panes(panes: Seq[(Long, String, Long, Seq[Int])]) extends Outcome

  final case class Case(windows: Windows, steps: Seq[Step])

  private val profiles: Gen[Profile] = for {
    bounds <- Gen.oneOf[IntervalBounds](IntervalBounds.ClosedOpen, IntervalBounds.OpenClosed)
    rule <- Gen.oneOf(LateRule.all)
    inclusive <- Gen.oneOf(true, false)
  } yield Profile("mixed", bounds, rule, inclusive)

  private val windows: Gen[Windows] = for {
    slide <- Gen.choose(1L, 6L)
    offset <- Gen.choose(0L, slide - 1)
    frames <- Gen.oneOf(1, 2, 3, 7)
    profile <- Gen.oneOf(profiles, Gen.oneOf(Profile.all))
    delay <- Gen.oneOf(0L, 0L, 3L, 20L)
  } yield Windows(Frame(slide, offset), frames, profile, delay)

  private val keys = Gen.oneOf("a", "b")
  private val times = Gen.choose(-40L, 40L)

  private val steps: Gen[Step] = Gen.frequency(
    6 -> Gen.zip(keys, times).map { case (key, ts) => Row(key, ts) },
    2 -> times.map(ForAll(_)),
    1 -> Gen.zip(keys, times).map { case (key, watermark) => ForKey(key, watermark) }
  )

  val cases: Gen[Case] = for (one <- windows; steps <- Gen.listOf(steps)) yield Case(one, steps)

  /** Keeps every row, and looks at every window at every step. */
  final class AllRows(windows: Windows) {
    import windows._

    private var rows = Vector.empty[(String, Long, Int)]
    private var watermarks = Map.empty[String, Long]
    private var count = 0

    def play(steps: Seq[Step]): Seq[Outcome] = steps.map {
      case Row(key, ts) => count += 1; take(key, ts)
      case ForAll(watermark) => raise(Seq("a", "b"), watermark)
      case ForKey(key, watermark) => raise(Seq(key), watermark)
    }

    private def take(key: String, ts: Long): Outcome = {
      val late = watermarks.get(key).exists(isLate(ts, _))
      if (!late) rows :+= ((key, ts, count))
      Judged(Option.when(late)(profile.lateRule))
    }

    private def raise(keys: Seq[String], watermark: Long): Outcome = {
      val before = watermarks
      keys.foreach(key => watermarks += key -> watermarks.get(key).fold(watermark)(_ max watermark))
      val closing = for {
        (key, ts, _) <- rows
        end <- endsOf(ts)
        if watermarks.get(key).exists(isClosed(end, _))
        if !before.get(key).exists(isClosed(end, _))
      } yield (end, key)
      Panes(closing.distinct.sorted.map { case (end, key) => (end, key, end - size, in(key, end)) })
    }

    private def in(key: String, end: Long): Seq[Int] =
      rows.collect { case (`key`, ts, number) if endsOf(ts).contains(end) => number }

    private def size: Long = grid.size * frames

    private def endsOf(ts: Long): Seq[Long] = (ts to ts + size).filter { end =>
      val included = if (profile.bounds == IntervalBounds.OpenClosed) end - size < ts else ts < end
      included && Math.floorMod(end - grid.offset, grid.size) == 0
    }

    private def isClosed(end: Long, watermark: Long): Boolean =
      if (profile.bounds == IntervalBounds.OpenClosed) end < below(watermark)
      else end <= below(watermark)

    /** No rows below this are waited for. */
    private def below(watermark: Long): Long =
      (if (profile.inclusive) watermark + 1 else watermark) - delay

    private def isLate(ts: Long, watermark: Long): Boolean = profile.lateRule match {
      case LateRule.BehindWatermark => ts < below(watermark)
      case LateRule.FrameClosed => isClosed(endsOf(ts).head, watermark)
      case LateRule.WindowClosed => endsOf(ts).forall(isClosed(_, watermark))
    }
  }

  /** Plays the same on the engine; `restarts` saves and restores it after each step. */
  final class Engine(windows: Windows, deducts: Boolean, restarts: Boolean) {
    private val buffers = new ObjectBufferPool
    private var engine = make()
    private var count = 0

    def play(steps: Seq[Step]): Seq[Outcome] = steps.map { step =>
      val outcome = take(step)
      if (restarts) restart()
      outcome
    }

    private def make() = new InMemoryWindows[String](windows.spec, buffers, deducts)

    private def take(step: Step): Outcome = step match {
      case Row(key, ts) =>
        count += 1
        Judged(engine.observe(key, ts, buffers.of(count)))
      case ForAll(watermark) => panes(engine.advance(watermark))
      case ForKey(key, watermark) => panes(engine.advance(key, watermark))
    }

    private def panes(close: (InMemoryWindows.Pane[String] => Unit) => Unit): Outcome = {
      val all = Seq.newBuilder[(Long, String, Long, Seq[Int])]
      close(pane => all += ((pane.end, pane.key, pane.start, buffers(pane.buffer).sorted)))
      val panes = all.result()
      assert(panes.map(_._1) == panes.map(_._1).sorted)
      Panes(panes.sortBy(pane => (pane._1, pane._2)))
    }

    private def restart(): Unit = {
      val saved = engine.save()
      engine = make()
      engine.restore(Seq(saved), exactly = true)
    }
  }
}
