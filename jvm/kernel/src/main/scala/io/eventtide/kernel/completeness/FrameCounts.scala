package io.eventtide.kernel.completeness

import java.io.Externalizable
import java.io.ObjectInput
import java.io.ObjectOutput

import io.eventtide.kernel.Varint

/** Counts rows by their frame.
  *
  *   - '''Guarantee:''' the order in which rows are added and counts are merged does not matter. `add`
  *     allocates only when the number of frames has doubled.
  *   - '''Edges:''' rows of more than `most` frames are not counted: the counts are `incomplete`, and
  *     only the highest frame is known.
  *
  * @param most the highest number of frames
  */
final class FrameCounts(most: Int) extends Externalizable {
  import FrameCounts._

  def this() = this(FrameCounts.Most)

  private var frames = new Array[Long](First)
  private var counts = new Array[Long](First) // 0 in a free place
  private var shift = java.lang.Long.numberOfLeadingZeros(First - 1L)
  private var used = 0
  private var top = Long.MinValue
  private var isComplete = true

  /** The number of frames that have rows. */
  def size: Int = used

  /** The highest frame that has rows; `Long.MinValue` without rows. */
  def highest: Long = top

  /** Whether rows of further frames have not been counted. */
  def incomplete: Boolean = !isComplete

  def add(frame: Long): Unit = add(frame, 1)

  def add(frame: Long, rows: Long): Unit = {
    var at = (frame * Golden >>> shift).toInt
    while (counts(at) != 0 && frames(at) != frame) at = (at + 1) & (counts.length - 1)
    if (counts(at) != 0) counts(at) += rows else insert(at, frame, rows)
  }

  private def insert(at: Int, frame: Long, rows: Long): Unit = {
    if (frame > top) top = frame
    if (used == most) isComplete = false
    else {
      frames(at) = frame
      counts(at) = rows
      used += 1
      if (used * 2 > counts.length) grow()
    }
  }

  private def grow(): Unit = {
    val (oldFrames, oldCounts) = (frames, counts)
    frames = new Array[Long](oldFrames.length * 2)
    counts = new Array[Long](oldFrames.length * 2)
    shift -= 1
    used = 0
    var at = 0
    while (at < oldCounts.length) {
      if (oldCounts(at) != 0) add(oldFrames(at), oldCounts(at))
      at += 1
    }
  }

  // Frames in the order of another table, in a small one, would all seek the same places.
  private def reserve(size: Int): Unit = while (size * 2 > counts.length) grow()

  def merge(other: FrameCounts): Unit = {
    reserve(math.min(other.used, most))
    other.foreach((frame, rows) => add(frame, rows))
    top = math.max(top, other.top)
    isComplete &&= other.isComplete
  }

  /** Visits the frames that have rows, in no particular order. */
  def foreach(visit: Visitor): Unit = {
    var at = 0
    while (at < counts.length) {
      if (counts(at) != 0) visit(frames(at), counts(at))
      at += 1
    }
  }

  override def writeExternal(out: ObjectOutput): Unit = {
    out.writeBoolean(isComplete)
    out.writeLong(top)
    out.writeInt(used)
    foreach { (frame, rows) =>
      out.writeLong(frame)
      Varint.write(out, rows)
    }
  }

  override def readExternal(in: ObjectInput): Unit = {
    isComplete = in.readBoolean()
    top = in.readLong()
    val size = in.readInt()
    reserve(size)
    (0 until size).foreach(_ => add(in.readLong(), Varint.read(in)))
  }
}

object FrameCounts {

  /** The number of frames of a partition that are counted: 2 MiB. */
  val Most: Int = 1 << 16

  private val First = 16
  private val Golden = 0x9e3779b97f4a7c15L // spreads frames that are far apart

  /** Takes a frame and the number of its rows. */
  trait Visitor {
    def apply(frame: Long, rows: Long): Unit
  }
}
