package io.eventtide.kernel.testkit

import java.io.{ByteArrayInputStream, ByteArrayOutputStream, DataInputStream, DataOutputStream}
import java.util.SplittableRandom

import io.eventtide.kernel.watermark.{PolicySpec, WatermarkPolicy}

/** An event in the history of a policy, after `pause` of clock time. */
sealed trait PolicyEvent { def pause: Long }

object PolicyEvent {
  final case class Tick(pause: Long) extends PolicyEvent
  final case class Skip(pause: Long) extends PolicyEvent
  final case class Row(pause: Long, ts: Long) extends PolicyEvent

  /** A row with a mark; see `WatermarkPolicy.observeMark`. */
  final case class Mark(pause: Long, ts: Long, mark: Long) extends PolicyEvent
  final case class Batch(pause: Long, times: Seq[Long]) extends PolicyEvent

  /** A random history in ranges narrow enough for times and clock to meet.
    *
    * @param unit factor of all times
    */
  private[testkit] def history(random: SplittableRandom, length: Int, unit: Long) =
    Seq.fill(random.nextInt(length + 1))(next(random, unit))

  private def next(random: SplittableRandom, unit: Long): PolicyEvent = {
    val often = random.nextInt(4) > 0
    val pause = unit * (if (often) random.nextLong(7) else random.nextLong(-3, 41))
    def ts = time(random, unit)
    random.nextInt(10) match {
      case 0 | 1 | 2 => Tick(pause)
      case 3 => Skip(pause)
      case 4 | 5 | 6 => Row(pause, ts)
      case 7 => Mark(pause, ts, ts)
      case _ => Batch(pause, Seq.fill(1 + random.nextInt(4))(ts))
    }
  }

  private[testkit] def time(random: SplittableRandom, unit: Long): Long =
    unit * random.nextLong(-30, 61)
}

/** Plays events to an instance of a policy and its clock. */
final class PolicyRun(spec: PolicySpec, start: Long = 0) {
  val policy: WatermarkPolicy = spec.create()

  /** The clock. */
  var now: Long = start

  def watermark: Option[Long] = Option.when(policy.known)(policy.watermark)

  def play(event: PolicyEvent): Unit = {
    now += event.pause
    event match {
      case PolicyEvent.Tick(_) => policy.tick(now)
      case PolicyEvent.Skip(_) => policy.skip(now)
      case PolicyEvent.Row(_, ts) => policy.observe(now, ts)
      case PolicyEvent.Mark(_, ts, mark) =>
        policy.observe(now, ts)
        policy.observeMark(mark)
      case PolicyEvent.Batch(_, times) => policy.observe(now, times.max, times.min)
    }
  }

  def play(events: Iterable[PolicyEvent]): PolicyRun = {
    events.foreach(play)
    this
  }

  /** The record of the instance. */
  def saved: Seq[Byte] = {
    val bytes = new ByteArrayOutputStream
    policy.save(new DataOutputStream(bytes))
    bytes.toByteArray.toSeq
  }

  /** A run of a new instance, restored from the record of this instance.
    *
    * @param by the policy of the new instance
    */
  def restarted(by: PolicySpec = spec): PolicyRun = {
    val restored = new PolicyRun(by, now)
    val in = new DataInputStream(new ByteArrayInputStream(saved.toArray))
    restored.policy.restore(in)
    if (in.read() != -1) throw new AssertionError("restore did not read all that save wrote")
    restored
  }
}
