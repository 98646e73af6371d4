package io.eventtide.kernel.watermark

import scala.collection.mutable

import io.eventtide.kernel.disorder.{BatchDisorder, LateTarget}

/** The rules of `Substreams` as they are written: looks at everything, every time. */
final class NaiveSubstreams(
    spec: PolicySpec,
    throttles: Seq[ThrottleSpec],
    idleTimeout: Option[Long]
) {
  private final class One(val name: String, var inactiveSince: Long) {
    val own: PolicySpec = spec.forSubstream(name)
    val policy: WatermarkPolicy = own.create()
    var watermark = Option.empty[Long]
    var idle = false
    var backlog: Backlog = Backlog.Unknown
  }

  private val throttle = ThrottleSpec.chain(throttles)
  private val all = mutable.Buffer.empty[One]
  private var highest = Option.empty[Long]
  private var clock = Long.MinValue
  private val target = spec.lateTarget.map(new LateTarget(_))

  def declare(name: String, now: Long): Unit = {
    val one = new One(name, Math.max(clock, now))
    target.foreach(of => one.policy.learn(of.lag))
    all += one
  }

  def observe(now: Long, index: Int, ts: Long): Unit =
    observeBatch(now, Seq(SubstreamRows(index, ts, ts, 1)))

  def observeBatch(
      now: Long,
      rows: Seq[SubstreamRows],
      disorder: BatchDisorder = BatchDisorder.None
  ): Unit = {
    val from = clock
    clock = Math.max(clock, now)
    if (rows.nonEmpty) all.filter(isPaused).foreach(skip(_, from))
    for (of <- target) {
      of.observe(disorder.rows, disorder.late)
      all.foreach(learn(_, of.lag))
    }
    rows.foreach { of =>
      all(of.index).policy.observe(clock, of.maxTs, of.minTs)
      if (of.mark != SubstreamRows.NoMark) all(of.index).policy.observeMark(of.mark)
      all(of.index).inactiveSince = Math.max(all(of.index).inactiveSince, clock)
      all(of.index).idle = false
    }
    val fresh = rows.map(of => all(of.index))
    combine(rows.map(_.cap).maxOption.getOrElse(Long.MaxValue), fresh)
  }

  private def learn(one: One, lag: Long): Unit = {
    one.policy.learn(lag)
    if (!one.own.movesWithClock && one.policy.known)
      one.watermark = (one.watermark ++ Some(one.policy.watermark)).maxOption
  }

  def tick(now: Long): Unit = observeBatch(now, Nil)

  def skip(now: Long): Unit = {
    val from = clock
    clock = Math.max(clock, now)
    all.foreach(skip(_, from))
  }

  private def skip(one: One, from: Long): Unit = {
    one.policy.skip(clock)
    one.inactiveSince += Math.max(0, clock - Math.max(from, one.inactiveSince))
  }

  def backlog(index: Int, of: Backlog): Unit = if (all(index).backlog != of) {
    all(index).backlog = of
    if (clock != Long.MinValue) all(index).idle = isSilent(all(index)) // nobody is before the start
  }

  def remove(index: Int, now: Long): Unit = {
    clock = Math.max(clock, now)
    all.remove(index): Unit
    combine(Long.MaxValue, Nil)
  }

  def emitted: Option[Long] = Option.when(throttle.known)(throttle.emitted)

  def watermarks: Seq[(String, Option[Long], Boolean)] =
    all.toSeq.map(one => (one.name, one.watermark, one.idle))

  private def combine(cap: Long, fresh: Seq[One]): Unit = {
    all.foreach(one => settle(one, cap, moves = fresh.contains(one) || !isPaused(one)))
    offer()
  }

  private def offer(): Unit = {
    val active = all.filterNot(_.idle)
    val ideal =
      if (active.isEmpty) highest
      else if (active.exists(_.watermark.isEmpty)) None
      else active.flatMap(_.watermark).minOption
    ideal.foreach(throttle.offer(clock, _): Unit)
  }

  private def settle(one: One, cap: Long, moves: Boolean): Unit = {
    if (moves) one.policy.tick(clock)
    if (moves && one.policy.known) {
      val next = Math.min(one.policy.watermark, cap)
      one.watermark = Some(one.watermark.fold(next)(Math.max(_, next)))
    }
    highest = (highest ++ one.watermark).maxOption
    if (isSilent(one)) one.idle = true
  }

  private def isPaused(one: One): Boolean =
    one.own.measuresIdleness && one.backlog == Backlog.Pending

  private def isSilent(one: One): Boolean =
    one.backlog != Backlog.Pending && idleTimeout.exists(clock - one.inactiveSince >= _)
}
