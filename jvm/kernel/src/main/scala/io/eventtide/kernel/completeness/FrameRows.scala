package io.eventtide.kernel.completeness

import java.io.{Externalizable, ObjectInput, ObjectOutput}

/** The rows of one window in a batch or a part of it, by their frame. */
final class FrameRows extends Externalizable {
  val onTime = new FrameCounts
  val late = new FrameCounts

  def merge(other: FrameRows): Unit = {
    onTime.merge(other.onTime)
    late.merge(other.late)
  }

  override def writeExternal(out: ObjectOutput): Unit = {
    onTime.writeExternal(out)
    late.writeExternal(out)
  }

  override def readExternal(in: ObjectInput): Unit = {
    onTime.readExternal(in)
    late.readExternal(in)
  }
}

object FrameRows {

  /** All rows of several parts, as a new instance. */
  def sum(parts: Iterable[FrameRows]): FrameRows = {
    val all = new FrameRows
    parts.foreach(all.merge)
    all
  }
}
