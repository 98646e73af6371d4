package io.eventtide.kernel.watermark

import java.io.DataInput
import java.io.DataOutput

import scala.collection.mutable.ArrayBuffer

/** The steps that applied to all substreams since they were last saved, replayed after a restore.
  *
  * The clock moves every substream, and a cap may limit any of them. These steps are saved once for
  * all substreams, so only substreams with rows need to be saved.
  *
  *   - '''Guarantee:''' a substream without other changes is restored to the same state. A clock
  *     step is omitted if a later one supersedes it, with a later clock and an equal or higher cap.
  *   - '''Units:''' the clock is in its unit, the cap in the unit of event times.
  *   - '''Edges:''' nothing is recorded before the first save, because there is no saved substream
  *     to replay it on.
  *   - '''Restart:''' `save`, then `clear` when the substreams have been saved. A new instance
  *     calls `read` for each saved record, in order, then `redo` once.
  */
private[watermark] final class SharedSteps {
  import SharedSteps._

  private val steps = ArrayBuffer.empty[Step]
  private var recorded = 0 // steps recorded so far; the number of a step is unique
  private var isRecording = false

  /** Records that every substream followed the clock, under a cap. */
  def clockApplied(clock: Long, cap: Long): Unit = if (isRecording) {
    while (lastIs(ClockApplied) && steps.last.second <= cap) steps.dropRightInPlace(1)
    add(ClockApplied, clock, cap)
  }

  /** Records that every substream took a learnt lag. */
  def learnt(lag: Long): Unit = if (isRecording) add(Learnt, lag, 0)

  /** Records that the clock moved and that the time does not count. */
  def skipped(from: Long, to: Long): Unit = if (isRecording) {
    if (lastIs(Skip) && steps.last.second == from) steps.last.second = to
    else add(Skip, from, to)
  }

  private def lastIs(kind: Byte): Boolean = steps.nonEmpty && steps.last.kind == kind

  /** Drops the steps, because the saved substreams include them. */
  def clear(): Unit = {
    isRecording = true
    steps.clear()
  }

  /** The number of steps recorded so far. */
  def count: Int = recorded

  /** Adds the steps that were saved with a record. */
  def read(in: DataInput): Unit = {
    isRecording = true
    for (_ <- 0 until in.readInt()) {
      val kind = in.readByte()
      val (first, second) = (in.readLong(), in.readLong())
      if (kind == ClockApplied) clockApplied(first, second) else add(kind, first, second)
    }
  }

  /** Replays on each substream the steps after its record. */
  def redo(table: SubstreamTable): Unit = table.iterator.foreach { one =>
    for (step <- steps) if (step.number > one.stepsBefore) redo(step, one)
  }

  private def redo(step: Step, one: Substream): Unit =
    if (step.kind == ClockApplied) one.applyClock(step.first, step.second)
    else if (step.kind == Learnt) one.learn(step.first)
    else one.skip(step.first, step.second)

  def save(out: DataOutput): Unit = {
    out.writeInt(steps.length)
    for (step <- steps) {
      out.writeByte(step.kind.toInt)
      out.writeLong(step.first)
      out.writeLong(step.second)
    }
  }

  private def add(kind: Byte, first: Long, second: Long): Unit = {
    recorded += 1
    steps += new Step(kind, first, second, recorded)
  }
}

private[watermark] object SharedSteps {
  private val ClockApplied: Byte = 0
  private val Skip: Byte = 1
  private val Learnt: Byte = 2

  /** One step: a clock value and a cap, the ends of an interval that does not count, or a lag. */
  private final class Step(val kind: Byte, val first: Long, var second: Long, val number: Int)
}
