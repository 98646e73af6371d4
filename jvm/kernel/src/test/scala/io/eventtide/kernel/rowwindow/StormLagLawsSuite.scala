package io.eventtide.kernel.rowwindow

import scala.collection.mutable

import org.scalacheck.Gen
import org.scalatest.funsuite.AnyFunSuite
import org.scalatestplus.scalacheck.ScalaCheckPropertyChecks

import io.eventtide.kernel.time.Frame

/** Windows over rows in blocks against their rules word by word, over all rows there have been. */
final class StormLagLawsSuite extends AnyFunSuite with ScalaCheckPropertyChecks {
  import StormLagLawsSuite._

  implicit override val generatorDrivenConfig: PropertyCheckConfiguration =
    PropertyCheckConfiguration(minSuccessful = 1000)

  test("windows have the rows that their rules say, whatever is kept in which block") {
    forAll(specs, batches, limits) { (spec, batches, limits) =>
      val run = new StormRun(spec, limits)
      val plain = new PlainStorm(spec)
      batches.foreach { case Batch(times, step) => assert(played(run, plain, times, step)) }
      val (none, panes) = run.finish()
      assert(none.isEmpty)
      assert(panes.map(pane => pane.end -> pane.rows) == plain.finish())
    }
  }

  private def played(run: StormRun, plain: PlainStorm, times: Seq[Long], step: Long) = {
    val onTime = times.filter(ts => plain.watermark.forall(ts >= _))
    val rows = onTime.map(ts => plain.name() -> ts)
    rows.foreach { case (name, ts) => run.add(name, ts) }
    val before = plain.shown
    val owed = run.due
    val expected = plain.advance(rows, step)
    val (none, panes) = run.advance(plain.watermark)
    if (rows.isEmpty && plain.watermark.forall(_ < owed)) assert(panes.isEmpty)
    assert(none == rows.map(_._1).filter(plain.isInNone))
    assert(panes.map(pane => pane.end -> pane.rows) == expected)
    val sets = before +: expected.map(_._2.toSet)
    assert(panes.map(_.fresh) == sets.zip(sets.drop(1)).map { case (was, now) => now -- was })
    panes.map(_.expired) == sets.zip(sets.drop(1)).map { case (was, now) => was -- now }
  }

  test("what is kept is no more than windows to come and the last one need, but for one block") {
    forAll(specs, batches) { (spec, batches) =>
      val run = new StormRun(spec, RowLimits(rows = 1, bytes = 1, atHand = 4), keepsLast = false)
      val plain = new PlainStorm(spec)
      batches.foreach { case Batch(times, step) =>
        val rows = times.filter(ts => plain.watermark.forall(ts >= _)).map(plain.name() -> _)
        rows.foreach { case (name, ts) => run.add(name, ts) }
        plain.advance(rows, step): Unit
        run.advance(plain.watermark): Unit
        assert(run.rows.blocks.size + run.waiting.blocks.size <= plain.mostNeeded)
      }
    }
  }
}

object StormLagLawsSuite {

  /** Rows, and how far the watermark rises after them. */
  final case class Batch(times: Seq[Long], step: Long)

  private val extents: Gen[WindowLength] = Gen.oneOf(
    Gen.choose(1L, 30L).map(WindowLength.Time),
    Gen.choose(1, 8).map(WindowLength.Rows)
  )

  val specs: Gen[RetainedRowSpec] = for {
    length <- extents
    slide <- extents
  } yield RetainedRowSpec(length, slide)

  val limits: Gen[RowLimits] = for {
    rows <- Gen.choose(1, 9)
    bytes <- Gen.choose(1, 30)
    atHand <- Gen.choose(0, 20)
  } yield RowLimits(rows, bytes, atHand)

  val batches: Gen[Seq[Batch]] = Gen.listOf(for {
    times <- Gen.listOf(Gen.choose(-60L, 90L))
    step <- Gen.oneOf(Gen.const(0L), Gen.choose(0L, 40L))
  } yield Batch(times, step))
}

/** The same windows over a list of all rows; the watermark begins with the first step at -60. */
final class PlainStorm(spec: RetainedRowSpec) {
  private val rows = mutable.Buffer.empty[(String, Long)]
  private val counted = mutable.Buffer.empty[(String, Long)]
  private val uncounted = mutable.ArrayBuffer.empty[(String, Long)]
  private val inNone = mutable.Set.empty[String]
  private var names = 0
  private var lastEnd = Option.empty[Long]
  private var last = Set.empty[String]
  private var reached = Option.empty[Long]

  def watermark: Option[Long] = reached
  def shown: Set[String] = last
  def isInNone(name: String): Boolean = inNone(name)

  def name(): String = {
    names += 1
    s"row $names"
  }

  def advance(more: Seq[(String, Long)], step: Long): Seq[(Long, Seq[String])] = {
    if (step > 0) reached = Some(reached.getOrElse(-60L) + step)
    take(more)
    remember(reached.fold(Seq.empty[(Long, Seq[String])])(ended))
  }

  def finish(): Seq[(Long, Seq[String])] = remember(spec.slide match {
    case WindowLength.Time(slide) =>
      rows.map(_._2).maxOption.fold(Seq.empty[(Long, Seq[String])]) { highest =>
        val longest = spec.length match {
          case WindowLength.Time(length) => length + slide
          case _ => 1L
        }
        byTime(slide, Frame(slide).ceiling(highest) + longest)
      }
    case _ => ended(Long.MaxValue)
  })

  private def take(more: Seq[(String, Long)]): Unit = {
    val (taken, not) = more.partition { case (_, ts) => isInWindow(ts) }
    inNone ++= not.map(_._1)
    rows ++= taken
    uncounted ++= taken
  }

  private def isInWindow(ts: Long) = (spec.length, spec.slide) match {
    case (WindowLength.Time(length), WindowLength.Time(slide)) =>
      ts > Frame(slide).ceiling(ts) - length
    case _ => true
  }

  private def remember(panes: Seq[(Long, Seq[String])]) = {
    panes.lastOption.foreach(pane => last = pane._2.toSet)
    panes
  }

  private def ended(watermark: Long): Seq[(Long, Seq[String])] = spec.slide match {
    case WindowLength.Time(slide) => byTime(slide, watermark)
    case WindowLength.Rows(slide) => byCount(slide, watermark)
  }

  private def byTime(slide: Long, watermark: Long): Seq[(Long, Seq[String])] = {
    val first = lastEnd.map(_ + slide).orElse(rows.map(_._2).minOption.map(Frame(slide).ceiling))
    val ends =
      first.fold(Seq.empty[Long])(Iterator.iterate(_)(_ + slide).takeWhile(_ < watermark).toSeq)
    val panes = ends.map(end => end -> until(end)).filter(_._2.nonEmpty)
    lastEnd = ends.lastOption.orElse(lastEnd)
    panes
  }

  private def until(end: Long): Seq[String] = {
    val reached = rows.filter(_._2 <= end)
    val in = spec.length match {
      case WindowLength.Time(length) => reached.filter(_._2 > end - length)
      case WindowLength.Rows(count) => reached.takeRight(count)
    }
    in.map(_._1).toSeq
  }

  private def byCount(slide: Int, watermark: Long): Seq[(Long, Seq[String])] = {
    val before = counted.length
    counted ++= uncounted.filter(_._2 <= watermark)
    uncounted.filterInPlace(_._2 > watermark)
    (before + 1 to counted.length).filter(_ % slide == 0).map { count =>
      val end = counted.take(count).map(_._2).max
      val in = spec.length match {
        case WindowLength.Time(length) =>
          counted.filter { case (_, ts) => ts > end - length && ts <= end }
        case WindowLength.Rows(most) => counted.take(count).takeRight(most)
      }
      end -> in.map(_._1).toSeq
    }
  }

  /** Of rows that are kept one by one. */
  def mostNeeded: Int = spec.length match {
    case WindowLength.Time(length) =>
      val after = spec.slide match {
        case WindowLength.Time(_) => lastEnd.fold(Long.MinValue)(_ - length)
        case _ => counted.map(_._2).maxOption.fold(Long.MinValue)(_ - length)
      }
      rows.count(_._2 > after)
    case WindowLength.Rows(most) => most + uncountedOrAhead
  }

  private def uncountedOrAhead: Int = spec.slide match {
    case WindowLength.Rows(_) => uncounted.length
    case _ => rows.count { case (_, ts) => lastEnd.forall(ts > _) }
  }
}
