package io.eventtide.kernel.watermark

import org.scalacheck.Gen
import org.scalatest.funsuite.AnyFunSuite
import org.scalatestplus.scalacheck.ScalaCheckPropertyChecks

import io.eventtide.kernel.Saved
import io.eventtide.kernel.disorder.{BatchDisorder, DisorderHistogram}

/** What holds for every combination of substreams, whatever happens. */
final class SubstreamsLawsSuite extends AnyFunSuite with ScalaCheckPropertyChecks {
  import SubstreamsLawsSuite._

  implicit override val generatorDrivenConfig: PropertyCheckConfiguration =
    PropertyCheckConfiguration(minSuccessful = 2000, sizeRange = 40)

  test("every shortcut gives what looking at everything every time gives") {
    forAll(setups, actions) { (setup, actions) =>
      val (quick, naive) = (new Quick(setup), new Naive(setup))
      actions.zipWithIndex.foreach { case (action, i) =>
        Seq(quick, naive).foreach(_.play(action))
        assert(quick.emitted == naive.emitted, s"after action $i, $action")
        if (i % 5 == 4) assert(quick.watermarks == naive.watermarks, s"after action $i, $action")
      }
    }
  }

  test("what is emitted never goes back, and a call says that it moved exactly when it did") {
    forAll(setups, actions) { (setup, actions) =>
      val one = new Quick(setup)
      actions.foreach { action =>
        val before = one.emitted
        one.play(action)
        assert(one.moved == (one.emitted != before))
        assert(before.forall(value => one.emitted.exists(_ >= value)))
      }
    }
  }

  test("a restored combination behaves as the saved one, from a whole record and its changes") {
    forAll(setups, Gen.listOf(actions), actions) { (setup, before, after) =>
      val live = new Quick(setup)
      val whole = Saved.by(live.substreams.saveWhole)
      val changes = before.map { actions =>
        actions.foreach(live.play)
        Saved.by(live.substreams.saveChanged)
      }
      val restored = live.restart(whole, changes)
      assert(seen(restored) == seen(live))
      after.foreach { action =>
        Seq(live, restored).foreach(_.play(action))
        assert(seen(restored) == seen(live), s"after $action")
      }
    }
  }

  test("under other throttles the watermark never goes back, and follows the ideal by them") {
    forAll(setups, Generators.freeThrottles, Gen.listOf(actions), actions) {
      (setup, others, before, after) =>
        val live = new Quick(setup)
        val whole = Saved.by(live.substreams.saveWhole)
        val changes = before.map { actions =>
          actions.foreach(live.play)
          Saved.by(live.substreams.saveChanged)
        }
        val restored = live.restart(whole, changes, setup.copy(throttles = others))
        assert(restored.emitted == live.emitted)
        val throttle = ThrottleSpec.chain(others)
        live.emitted.foreach(throttle.raise(_, live.clock))
        if (others.map(_.name) != setup.throttles.map(_.name)) after.foreach { action =>
          val looks = isLookedAt(action, restored.substreams.size)
          restored.play(action)
          if (looks) restored.substreams.ideal.foreach(throttle.offer(restored.clock, _): Unit)
          assert(
            restored.emitted == Option.when(throttle.known)(throttle.emitted),
            s"after $action"
          )
        }
    }
  }

  private val churn = Gen.listOf(Gen.zip(Gen.choose(0L, 9L), Gen.listOf(Generators.time)))

  test("substreams that come once and are forgotten leave what is emitted as it is") {
    forAll(setups, Gen.choose(0L, 20L), churn) { (setup, more, batches) =>
      val Setup(spec, throttles, timeout) =
        setup.copy(idleTimeout = Some(setup.idleTimeout.getOrElse(3L)))
      val ttl = timeout.get + more
      val (all, few) = (
        new Substreams(spec, throttles, timeout),
        new Substreams(spec, throttles, timeout, ttl = Some(ttl))
      )
      val restored = new Substreams(spec, throttles, timeout, ttl = Some(ttl))
      val whole = Saved.by(few.saveWhole)
      val changes = batches.scanLeft((0L, whole)) { case ((before, _), (pause, times)) =>
        val now = before + pause
        val names = times.indices.map(i => s"$now-$i-${times.length}")
        Seq(all, few).foreach { of =>
          val rows = names.zip(times).map { case (name, ts) =>
            SubstreamRows(of.indexOf(name).getOrElse(of.declare(name, now)), ts, ts, 1)
          }
          of.observeBatch(now, rows)
        }
        if (!spec.movesWithClock) assert(few.emitted == all.emitted)
        assert(few.report.forall { one =>
          val lastRow = if (one.activity.isIdle) one.since - timeout.get else one.since
          lastRow + ttl + ttl / 16 + 1 > now
        })
        (now, Saved.by(few.saveChanged))
      }
      restored.restore(whole.input, changes.tail.map(_._2.input))
      assert(
        (restored.emitted, restored.ideal, restored.report) == (few.emitted, few.ideal, few.report)
      )
    }
  }

  test("looking ahead says what a tick would bring, and changes nothing") {
    forAll(setups, actions, Gen.choose(-5L, 60L)) { (setup, actions, pause) =>
      val live = new Quick(setup)
      actions.foreach(live.play)
      val before = seen(live)
      val ahead = live.substreams.lookAhead(live.clock + pause)
      assert(seen(live) == before)
      val one = live.restart(Saved.by(live.substreams.saveWhole), Nil)
      one.substreams.tick(live.clock + pause): Unit
      assert(ahead == LookedAhead(one.substreams.status == WatermarkStatus.Idle, one.emitted))
    }
  }

  test("what the clock does is saved once for all, and not by substream") {
    forAll(Generators.policies, actions, Gen.nonEmptyListOf(Gen.choose(0L, 20L))) {
      (spec, actions, pauses) =>
        val live = new Quick(Setup(spec, Nil, Some(5)))
        (List.fill(40)(Declare(0)) ++ actions :+ TickAll(0)).foreach(live.play)
        val whole = Saved.by(live.substreams.saveWhole)
        pauses.foreach(pause => live.play(TickAll(pause)))
        val change = Saved.by(live.substreams.saveChanged)
        val empty = Saved.by(live.substreams.saveChanged)
        assert(change.bytes.size - empty.bytes.size <= 2 * 17)
        assert(seen(live.restart(whole, Seq(change))) == seen(live))
    }
  }

  test("due is the earliest clock value at which the target is emitted without rows") {
    forAll(setups, actions, Gen.choose(-60L, 90L)) { (setup, actions, target) =>
      val live = new Quick(setup)
      (actions :+ TickAll(0)).foreach(live.play)
      def reachedAt(now: Long): Boolean = {
        val one = live.restart(Saved.by(live.substreams.saveWhole), Nil)
        one.substreams.tick(now): Unit
        one.emitted.exists(_ >= target)
      }
      live.substreams.dueAt(target) match {
        case None => assert(!reachedAt(live.clock + 100000))
        case Some(due) if due <= live.clock => assert(live.emitted.exists(_ >= target))
        case Some(due) => assert(reachedAt(due) && !reachedAt(due - 1))
      }
    }
  }

  test("the next due clock value moves what is emitted, and none before it does") {
    forAll(setups, actions) { (setup, actions) =>
      val live = new Quick(setup)
      (TickAll(0) :: actions).foreach(live.play)
      def movedAt(now: Long): Boolean =
        live.restart(Saved.by(live.substreams.saveWhole), Nil).substreams.tick(now)
      live.substreams.nextDue match {
        case None => assert(!movedAt(live.clock + 100000))
        case Some(due) if due > live.clock => assert(!movedAt(due - 1) && movedAt(due))
        case Some(due) => assert(movedAt(due))
      }
    }
  }

  test("ticking at the next due clock value comes to an end, unless the clock drives it") {
    forAll(setups, actions) { (setup, actions) =>
      whenever(!setup.spec.movesWithClock) {
        val live = new Quick(setup)
        actions.foreach(live.play)
        val ticks = Iterator.continually(live.substreams.nextDue).takeWhile(_.isDefined).take(50)
        assert(ticks.map(due => live.substreams.tick(due.get)).size < 50)
      }
    }
  }

  test("the whole is idle exactly from the clock value that was said") {
    forAll(setups, actions) { (setup, actions) =>
      val live = new Quick(setup)
      (actions :+ TickAll(0)).foreach(live.play)
      def idleAt(now: Long): Boolean = {
        val one = live.restart(Saved.by(live.substreams.saveWhole), Nil)
        one.substreams.tick(now): Unit
        one.substreams.status == WatermarkStatus.Idle
      }
      live.substreams.idleAt match {
        case None => assert(!idleAt(live.clock + 100000))
        case Some(at) if at <= live.clock => assert(live.substreams.status == WatermarkStatus.Idle)
        case Some(at) => assert(idleAt(at) && !idleAt(at - 1))
      }
    }
  }

  test("a skip changes neither what is emitted nor which substreams are idle") {
    forAll(setups, actions, Gen.choose(0L, 1000L)) { (setup, actions, down) =>
      val live = new Quick(setup)
      (actions :+ TickAll(0)).foreach(live.play)
      val before = (live.emitted, live.watermarks)
      live.play(SkipAll(down))
      assert((live.emitted, live.watermarks) == before)
      live.play(TickAll(0))
      assert(live.watermarks == before._2)
    }
  }

  test("rows one by one or as a batch end at the same watermark, where batches do not matter") {
    val rows = Gen.nonEmptyListOf(Gen.zip(Gen.choose(0, 3), Generators.time))
    forAll(Generators.byRow, Gen.choose(1L, 9L), rows) { (spec, size, rows) =>
      val setup = Setup(spec, Seq(ThrottleByFrame(size)), Some(5))
      val (single, batched) = (new Quick(setup), new Quick(setup))
      Seq(single, batched).foreach(one => (0 to 3).foreach(_ => one.play(Declare(0))))
      rows.foreach { case (index, ts) => single.play(RowOf(0, index, ts)) }
      batched.play(BatchOf(0, rows))
      assert(single.emitted == batched.emitted && single.watermarks == batched.watermarks)
    }
  }

  test("after rows no substream is newly above the highest time or mark among them") {
    forAll(setups, actions, Gen.nonEmptyListOf(Gen.zip(Gen.choose(0, 5), Generators.time))) {
      (setup, actions, rows) =>
        val live = new Quick(setup)
        (Declare(0) :: actions).foreach(live.play)
        val before = live.watermarks.map { case (name, value, _) => name -> value }.toMap
        live.play(BatchOf(7, rows))
        // A lag that has become shorter moves substreams without rows, too.
        if (setup.spec.lateTarget.isEmpty) live.watermarks.foreach { case (name, after, _) =>
          val capped = rows.map { case (_, ts) => Math.max(ts, markOf(ts)) }.max
          assert(after == before.getOrElse(name, None) || after.forall(_ <= capped))
        }
    }
  }

  test("rows and clock over the whole range neither wrap nor go back") {
    val rows = Gen.listOf(Gen.zip(Generators.anyTime, Gen.choose(0, 1), Generators.anyTime))
    forAll(setups, rows) { (setup, rows) =>
      val one = new Substreams(setup.spec, setup.throttles, setup.idleTimeout)
      Seq("a", "b").foreach(one.declare(_, 0): Unit)
      rows.foreach { case (now, index, ts) =>
        val before = one.emitted
        one.observe(now, index, ts): Unit
        assert(before.forall(value => one.emitted.exists(_ >= value)))
        one.nextDue.filter(_ <= now).foreach(one.tick(_): Unit)
      }
    }
  }
}

object SubstreamsLawsSuite {
  final case class Setup(spec: PolicySpec, throttles: Seq[ThrottleSpec], idleTimeout: Option[Long])

  sealed trait Action { def pause: Long }
  final case class Declare(pause: Long) extends Action
  final case class RowOf(pause: Long, index: Int, ts: Long) extends Action
  final case class BatchOf(pause: Long, rows: Seq[(Int, Long)]) extends Action
  final case class TickAll(pause: Long) extends Action
  final case class SkipAll(pause: Long) extends Action
  final case class Remove(pause: Long, index: Int) extends Action
  final case class Told(index: Int, backlog: Backlog) extends Action { def pause = 0 }

  /** The mark that a row carries: some are ahead of its time. */
  private def markOf(ts: Long): Long = if (ts % 3 == 0) ts + 7 else SubstreamRows.NoMark

  private val timeouts = Gen.option(Gen.choose(1L, 12L))

  val setups: Gen[Setup] =
    Gen
      .zip(
        Gen.frequency(
          4 -> Generators.policies,
          1 -> Generators.bySubstream,
          1 -> Generators.learning
        ),
        Generators.throttles,
        timeouts
      )
      .map((Setup.apply _).tupled)

  private val pauses =
    Gen.frequency(3 -> Gen.const(0L), 3 -> Gen.choose(0L, 4L), 1 -> Gen.choose(-3L, 20L))
  private val indexes = Gen.choose(0, 5)
  private val backlogs = Gen.oneOf(Backlog.Unknown, Backlog.Empty, Backlog.Pending)

  private val action: Gen[Action] = Gen.frequency(
    2 -> pauses.map(Declare(_)),
    8 -> Gen.zip(pauses, indexes, Generators.time).map((RowOf.apply _).tupled),
    2 -> Gen
      .zip(pauses, Gen.listOf(Gen.zip(indexes, Generators.time)))
      .map((BatchOf.apply _).tupled),
    3 -> pauses.map(TickAll(_)),
    1 -> pauses.map(SkipAll(_)),
    1 -> Gen.zip(pauses, indexes).map((Remove.apply _).tupled),
    2 -> Gen.zip(indexes, backlogs).map((Told.apply _).tupled)
  )

  val actions: Gen[List[Action]] = Gen.listOf(action)

  /** Whether a call offers the ideal that there is after it. */
  private def isLookedAt(action: Action, size: Int): Boolean = action match {
    case _: Declare | _: SkipAll => false
    case _: Told => size == 0
    case _ => true
  }

  /** What a user can see. */
  private def seen(one: Quick): Any = (
    one.emitted,
    one.substreams.ideal,
    one.substreams.status,
    one.substreams.report,
    one.substreams.nextDue,
    one.substreams.idleAt
  )

  /** Turns actions into calls; an index wraps around the substreams there are. */
  abstract class Player(setup: Setup) {
    var clock = 0L
    protected var size = 0
    private var named = 0

    def play(action: Action): Unit = {
      val now = clock + action.pause
      clock = Math.max(clock, now)
      action match {
        case Declare(_) => declare(s"s$named", now); named += 1; size += 1
        case RowOf(_, index, ts) if size > 0 => row(now, index % size, ts)
        case BatchOf(_, rows) if size > 0 => batch(now, extremes(rows), disorder(rows.map(_._2)))
        case Remove(_, index) if size > 0 => size -= 1; remove(index % (size + 1), now)
        case SkipAll(_) => skip(now)
        case Told(index, of) if size > 0 => backlog(index % size, of)
        case _ => tick(now)
      }
    }

    private def extremes(rows: Seq[(Int, Long)]): Seq[SubstreamRows] =
      rows.groupMap(_._1 % size)(_._2).toSeq.sortBy(_._1).map { case (index, times) =>
        SubstreamRows(index, times.max, times.min, times.size.toLong, times.map(markOf).max)
      }

    // Behind time zero, where most rows are; one row in three is late.
    private def disorder(times: Seq[Long]): BatchDisorder = {
      val rows = new DisorderHistogram
      times.foreach(time => rows.add(-time))
      BatchDisorder(rows, times.size.toLong / 3)
    }

    protected def carryOver(from: Player): Unit = {
      clock = from.clock
      size = from.size
      named = from.named
    }

    def declare(name: String, now: Long): Unit
    def row(now: Long, index: Int, ts: Long): Unit
    def batch(now: Long, rows: Seq[SubstreamRows], disorder: BatchDisorder): Unit
    def tick(now: Long): Unit
    def skip(now: Long): Unit
    def remove(index: Int, now: Long): Unit
    def backlog(index: Int, of: Backlog): Unit
    def emitted: Option[Long]
    def watermarks: Seq[(String, Option[Long], Boolean)]
  }

  final class Quick(setup: Setup) extends Player(setup) {
    val substreams = new Substreams(setup.spec, setup.throttles, setup.idleTimeout)
    var moved = false

    def declare(name: String, now: Long): Unit = {
      substreams.declare(name, now): Unit; moved = false
    }
    def row(now: Long, index: Int, ts: Long): Unit = moved = substreams.observe(now, index, ts)
    def batch(now: Long, rows: Seq[SubstreamRows], disorder: BatchDisorder): Unit = moved =
      substreams.observeBatch(now, rows, disorder)
    def tick(now: Long): Unit = moved = substreams.tick(now)
    def skip(now: Long): Unit = { substreams.skip(now); moved = false }
    def remove(index: Int, now: Long): Unit = moved = substreams.remove(index, now)
    def backlog(index: Int, of: Backlog): Unit = {
      substreams.backlogs(Seq(index -> of)); moved = false
    }
    def emitted: Option[Long] = substreams.emitted
    def watermarks: Seq[(String, Option[Long], Boolean)] =
      substreams.report.map(one => (one.name, one.watermark, one.activity.isIdle))

    def restart(whole: Saved, changes: Seq[Saved], by: Setup = setup): Quick = {
      val restored = new Quick(by)
      restored.substreams.restore(whole.input, changes.map(_.input))
      restored.carryOver(this)
      restored
    }
  }

  final class Naive(setup: Setup) extends Player(setup) {
    private val substreams = new NaiveSubstreams(setup.spec, setup.throttles, setup.idleTimeout)

    def declare(name: String, now: Long): Unit = substreams.declare(name, now)
    def row(now: Long, index: Int, ts: Long): Unit = substreams.observe(now, index, ts)
    def batch(now: Long, rows: Seq[SubstreamRows], disorder: BatchDisorder): Unit =
      substreams.observeBatch(now, rows, disorder)
    def tick(now: Long): Unit = substreams.tick(now)
    def skip(now: Long): Unit = substreams.skip(now)
    def remove(index: Int, now: Long): Unit = substreams.remove(index, now)
    def backlog(index: Int, of: Backlog): Unit = substreams.backlog(index, of)
    def emitted: Option[Long] = substreams.emitted
    def watermarks: Seq[(String, Option[Long], Boolean)] = substreams.watermarks
  }
}
