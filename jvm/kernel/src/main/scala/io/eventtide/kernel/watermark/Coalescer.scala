package io.eventtide.kernel.watermark

import java.io.DataInput
import java.io.DataOutput

import io.eventtide.kernel.{IncompatibleState, InvalidArgument, StateVersion}

/** Combines the watermarks of several inputs into one: the lowest of those that count.
  *
  *   - '''Guarantee:''' what is coalesced never goes back.
  *   - '''Units:''' any, the same for all inputs.
  *   - '''Edges:''' an input counts until it is idle or done, and holds the others back while it
  *     has no watermark. When none counts, the highest watermark of any input is released. An event
  *     or a watermark brings an idle input back, with its last watermark; done is for ever.
  *   - '''Restart:''' format 1: number of inputs, then each one's state, then what was coalesced.
  *   - '''Source:''' Jet's `WatermarkCoalescer`, with three states instead of the ends of the
  *     range.
  *
  * @param inputs how many there are, zero or more
  */
final class Coalescer(inputs: Int) {
  if (inputs < 0) throw new InvalidArgument("inputs", inputs, "zero or more")

  private val known = new Array[Boolean](inputs)
  private val values = new Array[Long](inputs) // unread where `known` is false
  private val states = Array.fill[Byte](inputs)(Coalescer.Active)
  private val highest = new MonotonicMax // of any input, ever
  private val released = new MonotonicMax

  /** The highest watermark of any input, or none yet. */
  def top: Option[Long] = highest.toOption

  /** The combined watermark released last, or none yet. */
  def coalesced: Option[Long] = released.toOption

  /** Whether every input that is not done is idle, and there is one. */
  def idleMessagePending: Boolean =
    !states.contains(Coalescer.Active) && states.contains(Coalescer.Idle)

  /** The input's watermark rose; true when `coalesced` did. One that did not rise is refused. */
  def watermark(input: Int, value: Long): Boolean = {
    checkOpen(input)
    if (known(input) && value <= values(input))
      throw new InvalidArgument(s"watermark of input $input", value, s"above ${values(input)}")
    raise(input, value)
  }

  /** The input's watermark is at least this; one that did not rise still shows it is active. */
  def raise(input: Int, value: Long): Boolean = {
    checkOpen(input)
    states(input) = Coalescer.Active
    values(input) = if (known(input)) Math.max(values(input), value) else value
    known(input) = true
    val _ = highest.raise(value)
    combine()
  }

  /** The input is silent for now; true when `coalesced` rose. */
  def idle(input: Int): Boolean = {
    checkOpen(input)
    states(input) = Coalescer.Idle
    combine()
  }

  /** The input has ended; true when `coalesced` rose. */
  def done(input: Int): Boolean = {
    checkOpen(input)
    states(input) = Coalescer.Done
    combine()
  }

  /** An event came: an idle input counts again. */
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

  /** Takes over what `save` wrote; only for a new instance with as many inputs. */
  def restore(in: DataInput): Unit = {
    StateVersion.read(in, "coalescer", newest = 1)
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
