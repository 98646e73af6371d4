package io.eventtide.spark.spi

import java.io.{Externalizable, ObjectInput, ObjectOutput}

import scala.collection.mutable

import io.eventtide.kernel.SavedText
import io.eventtide.kernel.watermark.EventTimeStats

/** The rows of one partition in one batch: its substreams, and the number of refused rows.
  *
  * The task's thread updates it for every row, while the heartbeat thread may serialize it. Only a
  * new substream changes the collection, under the same lock as the serialization. A count in a
  * heartbeat may be one row old, which is harmless.
  */
final class PartitionEventTimeStats extends Externalizable {
  private val substreams = mutable.ArrayBuffer.empty[(String, EventTimeStats)]
  private val byName = mutable.HashMap.empty[String, EventTimeStats] // used in the task only

  /** Rows without a usable event time. */
  var badTime = 0L

  /** Rows refused because they were too far ahead of the clock. */
  var future = 0L

  def size: Int = substreams.size

  /** The number of rows read, including refused rows. */
  def total: Long = synchronized {
    badTime + future + substreams.iterator.map(_._2.count).sum
  }

  def substream(name: String): EventTimeStats = synchronized {
    byName.getOrElseUpdate(name, append(name))
  }

  private def append(name: String): EventTimeStats = {
    val rows = new EventTimeStats
    substreams += name -> rows
    rows
  }

  def foreach(visit: (String, EventTimeStats) => Unit): Unit = synchronized {
    substreams.foreach { case (name, rows) => visit(name, rows) }
  }

  override def writeExternal(out: ObjectOutput): Unit = synchronized {
    out.writeLong(badTime)
    out.writeLong(future)
    out.writeInt(substreams.size)
    foreach { (name, rows) =>
      SavedText.write(out, name)
      rows.save(out)
    }
  }

  override def readExternal(in: ObjectInput): Unit = {
    badTime = in.readLong()
    future = in.readLong()
    (0 until in.readInt()).foreach { _ =>
      append(SavedText.read(in)).restore(in)
    }
  }
}
