package io.eventtide.kernel.watermark

import java.io.DataInput
import java.io.DataOutput
import java.util.Arrays

/** The steps that applied to all substreams since they were last saved, replayed after a restore.
  *
  * The clock moves every substream, and a cap may hold any of them back. Saving these steps once
  * for all substreams means that only substreams with rows need to be saved.
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

  private var kinds = new Array[Byte](4)
  private var firsts = new Array[Long](4)
  private var seconds = new Array[Long](4)
  private var numbers = new Array[Int](4)
  private var recorded = 0 // steps recorded so far; gives each step a unique number
  private var used = 0
  private var isRecording = false

  /** Records that every substream followed the clock, under a cap. */
  def clockApplied(clock: Long, cap: Long): Unit = if (isRecording) {
    while (used > 0 && kinds(used - 1) == ClockApplied && seconds(used - 1) <= cap) used -= 1
    add(ClockApplied, clock, cap)
  }

  /** Records that the clock moved and that the time does not count. */
  def skipped(from: Long, to: Long): Unit = if (isRecording) {
    if (used > 0 && kinds(used - 1) == Skip && seconds(used - 1) == from) seconds(used - 1) = to
    else add(Skip, from, to)
  }

  /** Drops the steps, because the saved substreams include them. */
  def clear(): Unit = {
    isRecording = true
    used = 0
  }

  /** The number of steps recorded so far. */
  def count: Int = recorded

  /** Adds the steps that were saved with a record. */
  def read(in: DataInput): Unit = {
    isRecording = true
    for (_ <- 0 until in.readInt()) {
      val kind = in.readByte()
      val (first, second) = (in.readLong(), in.readLong())
      if (kind == ClockApplied) clockApplied(first, second) else add(Skip, first, second)
    }
  }

  /** Replays on each substream the steps after its record. */
  def redo(table: SubstreamTable): Unit = table.iterator.foreach { one =>
    var i = 0
    while (i < used) {
      if (numbers(i) > one.stepsBefore) redo(i, one)
      i += 1
    }
  }

  private def redo(step: Int, one: Substream): Unit =
    if (kinds(step) == ClockApplied) one.applyClock(firsts(step), seconds(step))
    else one.skip(firsts(step), seconds(step))

  def save(out: DataOutput): Unit = {
    out.writeInt(used)
    for (i <- 0 until used) {
      out.writeByte(kinds(i).toInt)
      out.writeLong(firsts(i))
      out.writeLong(seconds(i))
    }
  }

  private def add(kind: Byte, first: Long, second: Long): Unit = {
    if (used == kinds.length) grow()
    kinds(used) = kind
    firsts(used) = first
    seconds(used) = second
    recorded += 1
    numbers(used) = recorded
    used += 1
  }

  private def grow(): Unit = {
    kinds = Arrays.copyOf(kinds, used * 2)
    firsts = Arrays.copyOf(firsts, used * 2)
    seconds = Arrays.copyOf(seconds, used * 2)
    numbers = Arrays.copyOf(numbers, used * 2)
  }
}

private[watermark] object SharedSteps {
  private val ClockApplied: Byte = 0
  private val Skip: Byte = 1
}
