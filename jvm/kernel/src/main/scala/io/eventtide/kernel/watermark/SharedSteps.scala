package io.eventtide.kernel.watermark

import java.io.DataInput
import java.io.DataOutput
import java.util.Arrays

/** What happened to all substreams alike since they were last saved, to be done again after a restore.
  *
  * The clock moves every substream, and a cap may hold any of them back. To save that once for all is
  * to save only those whose rows came.
  *
  *   - '''Guarantee:''' a substream that had nothing else comes out the same. A look is left out that
  *     a later one makes up for: by a later clock, under no lower a cap.
  *   - '''Units:''' the clock's, and the cap's are those of event times.
  *   - '''Edges:''' nothing is noted before the first save, as there is nothing to do it to.
  *   - '''Restart:''' `save`; `clear` when the substreams have been saved. Another one reads all that was
  *     saved with an entry and those after it, and then does it once: `read` and `redo`.
  */
private[watermark] final class SharedSteps {
  import SharedSteps._

  private var kinds = new Array[Byte](4)
  private var firsts = new Array[Long](4)
  private var seconds = new Array[Long](4)
  private var numbers = new Array[Int](4)
  private var noted = 0 // steps ever, so that each has a number of its own
  private var used = 0
  private var notes = false

  /** Every substream followed the clock, under a cap. */
  def looked(clock: Long, cap: Long): Unit = if (notes) {
    while (used > 0 && kinds(used - 1) == Look && seconds(used - 1) <= cap) used -= 1
    add(Look, clock, cap)
  }

  /** The clock moved, and that time does not count. */
  def skipped(from: Long, to: Long): Unit = if (notes) {
    if (used > 0 && kinds(used - 1) == Skip && seconds(used - 1) == from) seconds(used - 1) = to
    else add(Skip, from, to)
  }

  /** The substreams are as they are saved. */
  def clear(): Unit = {
    notes = true
    used = 0
  }

  /** How many there have been. */
  def count: Int = noted

  /** Takes those that were saved with an entry. */
  def read(in: DataInput): Unit = {
    notes = true
    for (_ <- 0 until in.readInt()) {
      val kind = in.readByte()
      val (first, second) = (in.readLong(), in.readLong())
      if (kind == Look) looked(first, second) else add(Skip, first, second)
    }
  }

  /** Does to each substream what came after its record. */
  def redo(table: SubstreamTable): Unit = table.iterator.foreach { one =>
    var i = 0
    while (i < used) {
      if (numbers(i) > one.stepsBefore) redo(i, one)
      i += 1
    }
  }

  private def redo(step: Int, one: Substream): Unit =
    if (kinds(step) == Look) one.look(firsts(step), seconds(step))
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
    noted += 1
    numbers(used) = noted
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
  private val Look: Byte = 0
  private val Skip: Byte = 1
}
