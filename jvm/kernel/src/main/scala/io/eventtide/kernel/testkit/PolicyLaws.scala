package io.eventtide.kernel.testkit

import java.util.SplittableRandom

import scala.util.control.NonFatal

import io.eventtide.kernel.testkit.PolicyEvent.{Skip, Tick}
import io.eventtide.kernel.watermark.{PolicySpec, WatermarkPolicy}

/** The laws of every policy, as a test kit for custom policies.
  *
  * {{{
  *   PolicyLaws.check(PolicySpec(new TrimmedLag, Seq(5000000)), unit = 1000000)
  * }}}
  *
  *   - '''Guarantee:''' the same arguments give the same histories.
  */
object PolicyLaws {

  /** Plays random histories to a policy, and checks the guarantees of `WatermarkPolicy`.
    *
    * @param histories number of histories for each law; they get longer
    * @param unit factor of all times, which are from -30 to 60, and pauses of the clock, which are
    *   up to 40. Parameters should be of that order: with a lag of some seconds, a second.
    * @throws AssertionError
    *   with the law, the violation and the seed of the shortest history that shows it
    */
  def check(spec: PolicySpec, histories: Int = 500, seed: Long = 1, unit: Long = 1): Unit =
    for ((name, law) <- Laws; i <- 0 until histories) {
      val one =
        new Case(spec, new SplittableRandom(seed + i), length = 1 + i * 30 / histories, unit)
      try law(one)
      catch {
        case broken @ (NonFatal(_) | _: AssertionError) =>
          val seen = one.drawn.mkString(", ")
          throw new AssertionError(s"$spec: $name: ${broken.getMessage}, after: $seen", broken)
      }
    }

  private type Law = Case => Unit

  private val Laws: Seq[(String, Law)] = Seq(
    "the watermark never goes back, and a known watermark stays known" -> neverBack,
    "the same at the ends of the range of times" -> neverBackAtTheEnds,
    "looking ahead gives what a tick gives, and changes nothing" -> lookAhead,
    "with a clock that is ahead the watermarks are the same" -> clockAhead,
    "a restored instance continues like the saved instance" -> restart,
    "a record and the ticks after it give the live instance" -> ticksAfterRecord,
    "dueAt is the first clock value that reaches the target without rows" -> due,
    "a skip changes nothing that can be seen" -> skip,
    "ticks in between change nothing" -> ticksBetween
  )

  /** One random case of a law. */
  private final class Case(
      val spec: PolicySpec,
      random: SplittableRandom,
      length: Int,
      unit: Long
  ) {
    var drawn: Vector[PolicyEvent] = Vector.empty

    def history(): Seq[PolicyEvent] = {
      val events = PolicyEvent.history(random, length, unit)
      drawn ++= events
      events
    }

    /** A length of clock time. */
    def pause(most: Long): Long = unit * random.nextLong(most + 1)

    def time(): Long = PolicyEvent.time(random, unit)

    def below(bound: Int): Int = random.nextInt(bound)

    /** Any time, often near an end of the range. */
    def anyTime(): Long = random.nextInt(4) match {
      case 0 => Long.MinValue + random.nextLong(20)
      case 1 => random.nextLong(-20, 21)
      case 2 => Long.MaxValue - random.nextLong(20)
      case _ => random.nextLong()
    }

    def lengthOfHistory: Int = length
  }

  private def assume(holds: Boolean, problem: => String): Unit =
    if (!holds) throw new AssertionError(problem)

  private def same(what: String, one: Any, other: Any): Unit =
    assume(one == other, s"$what is $other, but should be $one")

  private def notBelow(before: Option[Long], after: Option[Long]): Unit =
    assume(before.forall(value => after.exists(_ >= value)), s"from $before to $after")

  private def neverBack(of: Case): Unit = {
    val run = new PolicyRun(of.spec)
    of.history().foreach { event =>
      val before = run.watermark
      run.play(event)
      notBelow(before, run.watermark)
    }
  }

  private def neverBackAtTheEnds(of: Case): Unit = {
    val run = new PolicyRun(of.spec)
    for (_ <- 0 until of.lengthOfHistory) {
      val before = run.watermark
      run.policy.observe(of.anyTime(), of.anyTime())
      notBelow(before, run.watermark)
    }
  }

  private def lookAhead(of: Case): Unit = {
    val live = new PolicyRun(of.spec).play(of.history())
    val ticked = live.restarted()
    val (later, before) = (live.now + of.pause(60), live.saved)
    val ahead = Option.when(live.policy.knownAt(later))(live.policy.watermarkAt(later))
    ticked.policy.tick(later)
    same("watermarkAt", ticked.watermark, ahead)
    same("the record", before, live.saved)
  }

  private def clockAhead(of: Case): Unit = {
    val ahead = of.pause(100)
    val (one, other) =
      (new PolicyRun(of.spec), new PolicyRun(of.spec.forClockAhead(ahead), start = ahead))
    of.history().foreach { event =>
      one.play(event)
      other.play(event)
      same("the watermark", one.watermark, other.watermark)
    }
  }

  private def restart(of: Case): Unit = {
    val live = new PolicyRun(of.spec).play(of.history())
    val restored = live.restarted()
    same("the restored watermark", live.watermark, restored.watermark)
    of.history().foreach { event =>
      live.play(event)
      restored.play(event)
      same("the watermark", live.watermark, restored.watermark)
    }
  }

  private def ticksAfterRecord(of: Case): Unit = {
    val live = new PolicyRun(of.spec).play(Tick(0) +: of.history())
    val restored = live.restarted()
    for (_ <- 0 until of.below(5)) live.play(Tick(of.pause(9)))
    restored.play(Tick(live.now - restored.now))
    same("the watermark", live.watermark, restored.watermark)
    same("the record", live.saved, restored.saved)
  }

  private def due(of: Case): Unit = {
    val history = Tick(0) +: of.history()
    val live = new PolicyRun(of.spec).play(history)
    val (target, clock) = (of.time(), history.scanLeft(0L)(_ + _.pause).max)
    def reachedAt(now: Long): Boolean = {
      val one = live.restarted()
      one.policy.tick(now)
      one.watermark.exists(_ >= target)
    }
    live.policy.dueAt(target) match {
      case WatermarkPolicy.Never =>
        assume(!reachedAt(clock + of.pause(1000000)), s"dueAt($target) is never, but it is reached")
      case at if at <= clock =>
        assume(live.watermark.exists(_ >= target), s"dueAt($target) is $at, but it is not reached")
      case at =>
        assume(reachedAt(at), s"dueAt($target) is $at, but it is not reached then")
        assume(!reachedAt(at - 1), s"dueAt($target) is $at, but it is reached before")
    }
  }

  private def skip(of: Case): Unit = {
    val live = new PolicyRun(of.spec).play(of.history())
    val (before, down) = (live.watermark, of.pause(1000))
    live.play(Skip(down))
    same("the watermark", before, live.watermark)
    live.play(Tick(0))
    if (down > 0) same("the watermark after a tick of no length", before, live.watermark)
  }

  private def ticksBetween(of: Case): Unit = {
    val (often, seldom) = (new PolicyRun(of.spec), new PolicyRun(of.spec))
    Seq(often, seldom).foreach(_.play(Tick(0)))
    of.history().foreach { event =>
      val isSkip = event.isInstanceOf[Skip]
      val parts = if (isSkip || event.pause <= 0) 0L else math.min(of.below(4).toLong, event.pause)
      val start = often.now
      (1L to parts).foreach(i => often.policy.tick(start + event.pause * i / (parts + 1)))
      Seq(often, seldom).foreach(_.play(event))
      same("the watermark", seldom.watermark, often.watermark)
    }
  }
}
