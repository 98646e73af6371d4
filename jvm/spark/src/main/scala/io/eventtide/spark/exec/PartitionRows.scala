package io.eventtide.spark.exec

import java.io.{Externalizable, ObjectInput, ObjectOutput}

import scala.collection.mutable

import io.eventtide.kernel.watermark.TimeExtremes

/** What one partition of one batch held: its substreams, and the rows that were refused.
  *
  * The task's thread writes it row by row while the heartbeat's thread may serialise it. Only a new
  * substream changes the map, and does so under the same lock as the copy that is sent; a count that
  * is one row old in a heartbeat does no harm.
  */
final class PartitionRows extends Externalizable {
  private val substreams = mutable.LinkedHashMap.empty[String, TimeExtremes]

  /** Rows without a usable event time. */
  var badTime = 0L

  /** Rows refused because they were too far ahead of the clock. */
  var future = 0L

  def size: Int = substreams.size

  /** All rows that were read, refused ones too. */
  def total: Long = synchronized {
    badTime + future + substreams.valuesIterator.map(_.count).sum
  }

  def substream(name: String): TimeExtremes = synchronized {
    substreams.getOrElseUpdate(name, new TimeExtremes)
  }

  def foreach(visit: (String, TimeExtremes) => Unit): Unit = synchronized {
    substreams.foreachEntry(visit)
  }

  override def writeExternal(out: ObjectOutput): Unit = synchronized {
    out.writeLong(badTime)
    out.writeLong(future)
    out.writeInt(substreams.size)
    substreams.foreachEntry { (name, rows) =>
      out.writeObject(name)
      out.writeObject(rows)
    }
  }

  override def readExternal(in: ObjectInput): Unit = {
    badTime = in.readLong()
    future = in.readLong()
    (0 until in.readInt()).foreach { _ =>
      substreams(in.readObject().asInstanceOf[String]) = in.readObject().asInstanceOf[TimeExtremes]
    }
  }
}
