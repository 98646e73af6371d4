package io.eventtide.kernel.watermark

import java.io.{ByteArrayInputStream, ByteArrayOutputStream, DataInput, DataInputStream}
import java.io.{DataOutput, DataOutputStream}

import io.eventtide.kernel.time.Clamped
import io.eventtide.kernel.{SavedText, StateVersion}

/** A custom policy; each call of it is checked.
  *
  *   - '''Guarantee:''' an exception of the policy becomes a `PolicyFailure` with the policy's
  *     name. So does a watermark that goes back or vanishes, or a record that the policy cannot
  *     read.
  *   - '''Units:''' the policy receives the clock on the scale of the rows' time (without `ahead`),
  *     so that it can compare both.
  *   - '''Restart:''' format 1: the watermark, then the record of the checked policy with its
  *     length.
  *
  * @param ahead distance of the clock ahead of the rows' time
  */
private[watermark] final class CheckedPolicy(name: String, ahead: Long, own: WatermarkPolicy)
    extends WatermarkPolicy {
  import WatermarkPolicy.{Already, Never}

  private val reached = new MonotonicMax

  def known: Boolean = reached.known

  def watermark: Long = reached.value

  override def tick(now: Long): Unit = checked("tick")(own.tick(clock(now)))

  override def skip(now: Long): Unit = checked("skip")(own.skip(clock(now)))

  def observe(now: Long, ts: Long): Unit = checked("observe")(own.observe(clock(now), ts))

  override def observe(now: Long, maxTs: Long, minTs: Long): Unit =
    checked("observe")(own.observe(clock(now), maxTs, minTs))

  override def observeMark(mark: Long): Unit = checked("observeMark")(own.observeMark(mark))

  override def knownAt(now: Long): Boolean = known || call("knownAt")(own.knownAt(clock(now)))

  override def watermarkAt(now: Long): Long = {
    val later = call("watermarkAt")(own.watermarkAt(clock(now)))
    if (known && later < watermark) wentBack("watermarkAt", later)
    later
  }

  override def firstRowFor(target: Long): Long = call("firstRowFor")(own.firstRowFor(target))

  override def dueAt(target: Long): Long = call("dueAt")(own.dueAt(target)) match {
    case always @ (Already | Never) => always
    case due => Clamped.add(due, ahead)
  }

  def save(out: DataOutput): Unit = {
    val record = new ByteArrayOutputStream
    call("save")(own.save(new DataOutputStream(record)))
    StateVersion.write(out, 1)
    reached.save(out)
    out.writeInt(record.size)
    out.write(record.toByteArray)
  }

  def restore(in: DataInput): Unit = {
    StateVersion.read(in, s"policy $name", known = 1)
    reached.restore(in)
    val record = SavedText.readBytes(in)
    val left = new ByteArrayInputStream(record)
    checked("restore")(own.restore(new DataInputStream(left)))
    if (left.available > 0)
      throw new PolicyFailure(name, s"restore left ${left.available} bytes of what save wrote")
  }

  private def clock(now: Long): Long = Clamped.subtract(now, ahead)

  private def call[A](method: String)(body: => A): A = PolicyFailure.in(name, method)(body)

  private def checked(method: String)(body: => Unit): Unit = {
    call(method)(body)
    if (call("known")(own.known)) {
      val now = call("watermark")(own.watermark)
      if (known && now < watermark) wentBack(method, now)
      reached.raise(now): Unit
    } else if (known) throw new PolicyFailure(name, s"$method took back its watermark $watermark")
  }

  private def wentBack(method: String, to: Long): Nothing =
    throw new PolicyFailure(name, s"$method moved its watermark back, from $watermark to $to")
}
