package io.eventtide.kernel.watermark

import java.io.DataInput
import java.io.DataOutput

import io.eventtide.kernel.{IncompatibleState, InvalidArgument, StateVersion}

/** Combines the watermarks of several inputs into the lowest watermark of the active inputs.
  *
  *   - '''Guarantee:''' `coalesced` never goes back.
  *   - '''Units:''' any, the same for all inputs.
  *   - '''Edges:''' an input is active until it is idle or done. An active input without a
  *     watermark delays the combined watermark. When no input is active, the highest watermark of
  *     any input is released. An event or a watermark makes an idle input active again, with its
  *     last watermark; done is final.
  *   - '''Restart:''' format 1: number of inputs, then the state of each input, then `top` and
  *     `coalesced`.
  *   - '''Source:''' Jet's `WatermarkCoalescer`, with three states instead of the ends of the
  *     range.
  *
  * @param inputs number of inputs, zero or more
  */
final class Coalescer(inputs: Int) {
  if (inputs < 0) throw new InvalidArgument("inputs", inputs, "zero or more")

  private val known = new Array[Boolean](inputs)
  private val values = new Array[Long](inputs) // not read where `known` is false
  private val states = Array.fill[Byte](inputs)(Coalescer.Active)
  private val highest = new MonotonicMax // of any input, ever
  private val released = new MonotonicMax

  /** The highest watermark of any input, or none yet. */
  def top: Option[Long] = highest.toOption

  /** The combined watermark released last, or none yet. */
  def coalesced: Option[Long] = released.toOption

  /** Whether every input that is not done is idle, and at least one is idle. */
  def idleMessagePending: Boolean =
    !states.contains(Coalescer.Active) && states.contains(Coalescer.Idle)

  /** Raises the input's watermark; returns true when `coalesced` rose. A value that is not above
    * the last one is rejected.
    */
  def watermark(input: Int, value: Long): Boolean = {
    checkOpen(input)
    if (known(input) && value <= values(input))
      throw new InvalidArgument(s"watermark of input $input", value, s"above ${values(input)}")
    raise(input, value)
  }

  /** Raises the input's watermark to at least `value`; a lower value still makes the input active.
    */
  def raise(input: Int, value: Long): Boolean = {
    checkOpen(input)
    states(input) = Coalescer.Active
    values(input) = if (known(input)) Math.max(values(input), value) else value
    known(input) = true
    val _ = highest.raise(value)
    combine()
  }

  /** Marks the input as idle; returns true when `coalesced` rose. */
  def idle(input: Int): Boolean = {
    checkOpen(input)
    states(input) = Coalescer.Idle
    combine()
  }

  /** Marks the input as done; returns true when `coalesced` rose. */
  def done(input: Int): Boolean = {
    checkOpen(input)
    states(input) = Coalescer.Done
    combine()
  }

  /** Records an event: an idle input becomes active again. */
  def event(input: Int): Unit =
    if (states(input) == Coalescer.Idle) states(input) = Coalescer.Active

  def save(out: DataOutput): Unit = {
    StateVersion.write(out, 1)
    out.writeInt(inputs)
    for (i <- 0 until inputs) {
      out.writeByte(states(i).toInt)
      out.writeBoolean(known(i))
      out.writeLong(values(i))
    }
    highest.save(out)
    released.save(out)
  }

  /** Restores what `save` wrote; only for a new instance with the same number of inputs. */
  def restore(in: DataInput): Unit = {
    StateVersion.read(in, "coalescer", known = 1)
    val saved = in.readInt()
    if (saved != inputs) throw Coalescer.otherInputs(saved, inputs)
    for (i <- 0 until inputs) {
      states(i) = in.readByte()
      known(i) = in.readBoolean()
      values(i) = in.readLong()
    }
    highest.restore(in)
    released.restore(in)
  }

  private def combine(): Boolean = {
    val counting = (0 until inputs).filter(states(_) == Coalescer.Active)
    if (counting.isEmpty) highest.known && released.raise(highest.value)
    else counting.forall(known(_)) && released.raise(counting.map(values(_)).min)
  }

  private def checkOpen(input: Int): Unit =
    if (states(input) == Coalescer.Done)
      throw new InvalidArgument(s"input $input", "done", "still open")
}

object Coalescer {
  private val Active: Byte = 0
  private val Idle: Byte = 1
  private val Done: Byte = 2

  private def otherInputs(saved: Int, present: Int): Exception =
    new IncompatibleState("coalescer", s"$saved inputs", s"$present inputs")
}
