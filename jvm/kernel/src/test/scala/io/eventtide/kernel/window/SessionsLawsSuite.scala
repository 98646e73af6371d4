package io.eventtide.kernel.window

import org.scalacheck.Gen
import org.scalatest.funsuite.AnyFunSuite
import org.scalatestplus.scalacheck.ScalaCheckPropertyChecks

/** Sessions against their rules word by word: all rows, grouped anew at every step. */
final class SessionsLawsSuite extends AnyFunSuite with ScalaCheckPropertyChecks {
  import SessionsLawsSuite._

  implicit override val generatorDrivenConfig: PropertyCheckConfiguration =
    PropertyCheckConfiguration(minSuccessful = 500)

  test("each row is late, or in the session of the open rows that are near it") {
    forAll(specs, steps) { (spec, steps) =>
      assert(new Engine(spec).play(steps) == new AllRows(spec).play(steps))
    }
  }

  test("rows with gaps of their own, which are all the same, are those of one gap") {
    forAll(specs.suchThat(_.gap.isDefined), steps) { (spec, steps) =>
      val same = steps.map {
        case Row(ts, _) => Row(ts, spec.gap.get)
        case other => other
      }
      assert(new Engine(spec.copy(gap = None)).play(same) == new Engine(spec).play(steps))
    }
  }

  test("the order of rows does not matter without a watermark") {
    forAll(specs, Gen.listOf(rows), Gen.long) { (spec, rows, seed) =>
      val shuffled = new scala.util.Random(seed).shuffle(rows)
      assert(grouped(spec, shuffled) == grouped(spec, rows))
    }
  }

  test("no session is longer than its maximum, and each row is in one") {
    forAll(specs, Gen.choose(0L, 20L), Gen.listOf(rows)) { (spec, more, rows) =>
      val longest = spec.gap.getOrElse(1L) + more
      val windows = new Engine(spec.copy(maximum = Some(longest)))
      val last = windows.play(rows :+ Reached(Long.MaxValue - 100)).last
      val sessions = last.asInstanceOf[Closed].sessions
      assert(sessions.forall { case (start, end, _) => end - start <= longest })
      assert(sessions.flatMap(_._3).sorted == rows.indices)
    }
  }

  private def grouped(spec: SessionSpec, rows: Seq[Row]) = {
    val outcome = new Engine(spec).play(rows :+ Reached(Long.MaxValue - 100)).last
    outcome.asInstanceOf[Closed].sessions.map { case (start, end, in) => (start, end, in.length) }
  }
}

object SessionsLawsSuite {
  sealed trait Step

  /** A row; its gap counts only where rows have gaps of their own. */
  final case class Row(ts: Long, gap: Long) extends Step
  final case class Reached(watermark: Long) extends Step

  sealed trait Outcome
  final case class Judged(onTime: Boolean) extends Outcome
  final case class Closed(sessions: Seq[(Long, Long, Seq[Int])]) extends Outcome

  val times: Gen[Long] = Gen.choose(-40L, 40L)

  val rows: Gen[Row] = for {
    ts <- times
    gap <- Gen.oneOf(Gen.choose(1L, 12L), Gen.choose(1L, 60L))
  } yield Row(ts, gap)

  val specs: Gen[SessionSpec] = for {
    gap <- Gen.option(Gen.choose(1L, 12L))
    profile <- Gen.oneOf(Profile.all)
    delay <- Gen.oneOf(0L, 0L, 4L)
  } yield SessionSpec(gap, None, profile, delay)

  val steps: Gen[Seq[Step]] =
    Gen.listOf(Gen.frequency(5 -> rows, 1 -> times.map(Reached(_))))

  /** The engine, whose record is written and read at every step. */
  final class Engine(spec: SessionSpec) {
    private val buffers = new ObjectBufferPool
    private var windows = fresh()
    private var watermark = Option.empty[Long]
    private var count = 0

    private def fresh(): Sessions = {
      val made = new Sessions(spec, buffers)
      made.begin()
      made
    }

    def play(steps: Seq[Step]): Seq[Outcome] = steps.map { step =>
      val outcome = step match {
        case Row(ts, gap) =>
          count += 1
          val buffer = buffers.of(count - 1)
          Judged(
            if (spec.gap.isDefined) windows.add(ts, buffer) else windows.add(ts, gap, buffer)
          )
        case Reached(at) =>
          watermark = (watermark ++ Some(at)).maxOption
          Closed(closed())
      }
      restart()
      outcome
    }

    private def closed(): Seq[(Long, Long, Seq[Int])] = {
      val all = Seq.newBuilder[(Long, Long, Seq[Int])]
      while (windows.next(watermark.get))
        all += ((windows.start, windows.end, buffers(windows.result).sorted))
      all.result()
    }

    private def restart(): Unit = {
      val sink = new ByteSink
      windows.write(sink)
      windows = fresh()
      val source = new ByteSource
      source.reset(sink.bytes, 0)
      windows.read(source)
      windows.beginBatch(watermark)
    }
  }

  private final case class Kept(ts: Long, until: Long, number: Int)

  /** Keeps the rows of what is open, and groups them at every step. */
  final class AllRows(spec: SessionSpec) {
    private val rules = spec.profile.session
    private var open = Vector.empty[Kept]
    private var watermark = Option.empty[Long]
    private var count = 0

    def play(steps: Seq[Step]): Seq[Outcome] = steps.map {
      case Row(ts, gap) => Judged(take(ts, spec.gap.getOrElse(gap)))
      case Reached(at) =>
        watermark = (watermark ++ Some(at)).maxOption
        val (over, rest) = groups(open).partition(rows => isClosed(endOf(rows), watermark.get))
        open = rest.flatten
        Closed(over.map(rows => (rows.head.ts, endOf(rows), rows.map(_.number).sorted)))
    }

    private def take(ts: Long, gap: Long): Boolean = {
      val row = Kept(ts, ts + gap, count)
      count += 1
      val onTime = watermark.forall { at =>
        rules.lateRule match {
          case LateRule.BehindWatermark => ts >= at - spec.delay
          case LateRule.FrameClosed => !isClosed(row.until, at)
          case LateRule.WindowClosed =>
            !isClosed(endOf(groups(open :+ row).find(_.contains(row)).get), at)
        }
      }
      if (onTime) open :+= row
      onTime
    }

    private def groups(rows: Vector[Kept]): Vector[Vector[Kept]] =
      rows.sortBy(_.ts).foldLeft(Vector.empty[Vector[Kept]]) { (all, row) =>
        val together = all.lastOption.exists { last =>
          row.ts < endOf(last) || rules.touchingMerges && row.ts == endOf(last)
        }
        if (together) all.init :+ (all.last :+ row) else all :+ Vector(row)
      }

    private def endOf(rows: Vector[Kept]): Long = rows.map(_.until).max

    private def isClosed(end: Long, watermark: Long): Boolean =
      if (rules.closesAbove) end + spec.delay < watermark
      else if (spec.profile.inclusive) end + spec.delay - 1 <= watermark
      else end + spec.delay <= watermark
  }
}
