package io.eventtide.spark.spi

import java.io.{Externalizable, ObjectInput, ObjectOutput}

import scala.collection.mutable

import io.eventtide.kernel.SavedText
import io.eventtide.kernel.disorder.DisorderHistogram
import io.eventtide.kernel.watermark.EventTimeStats

/** The rows of one partition in one batch: its substreams, and the number of refused rows.
  *
  * The task's thread updates it for every row, while the heartbeat thread may serialize it. Only a
  * new substream changes the collection, under the same lock as the serialization. A count in a
  * heartbeat may be one row old, which is harmless.
  */
final class PartitionEventTimeStats extends Externalizable {
  import PartitionEventTimeStats.Substream

  private val substreams = mutable.ArrayBuffer.empty[Substream]
  private val byName = mutable.HashMap.empty[String, EventTimeStats] // used in the task only

  /** Rows without a usable event time. */
  var badTime = 0L

  /** The rows that count, by their disorder. Rows in order are left out: they are the others. */
  val disorder = new DisorderHistogram

  /** Rows that count and are below the query's watermark. */
  var late = 0L

  /** Rows refused because they were too far ahead of the clock. */
  var future = 0L

  def size: Int = substreams.size

  /** The number of rows read, including refused rows. */
  def total: Long = synchronized {
    badTime + future + substreams.iterator.map(_.all.count).sum
  }

  def substream(name: String): EventTimeStats = synchronized {
    byName.getOrElseUpdate(name, append(name))
  }

  private def append(name: String): EventTimeStats = {
    val added = new Substream(name)
    substreams += added
    added.recent
  }

  def foreach(visit: (String, EventTimeStats) => Unit): Unit = synchronized {
    substreams.foreach(one => visit(one.name, one.all))
  }

  /** Visits the substreams with rows since the last call, with these rows. They stay in the totals.
    */
  def takeRecent(visit: (String, EventTimeStats) => Unit): Unit = synchronized {
    substreams.foreach { one =>
      if (one.recent.count > 0) {
        visit(one.name, one.recent)
        one.take()
      }
    }
  }

  /** Whether rows since the last call of `takeRecent` have raised the highest time of a substream, in
    * whole milliseconds. False if there are many substreams.
    */
  def isRaised: Boolean =
    substreams.size <= PartitionEventTimeStats.Few && substreams.exists(_.isRaised)

  override def writeExternal(out: ObjectOutput): Unit = synchronized {
    out.writeLong(badTime)
    out.writeLong(future)
    out.writeLong(late)
    disorder.save(out)
    out.writeInt(substreams.size)
    foreach { (name, rows) =>
      SavedText.write(out, name)
      rows.save(out)
    }
  }

  override def readExternal(in: ObjectInput): Unit = {
    badTime = in.readLong()
    future = in.readLong()
    late = in.readLong()
    disorder.restore(in)
    (0 until in.readInt()).foreach { _ =>
      append(SavedText.read(in)).restore(in)
    }
  }
}

private object PartitionEventTimeStats {
  private val Few = 8

  /** The rows of a substream. The task adds to `recent`, without a lock. */
  private final class Substream(val name: String) {
    val recent = new EventTimeStats
    private var earlier: EventTimeStats = _ // null until rows are taken: in real-time mode only

    def all: EventTimeStats =
      if (earlier == null) recent
      else {
        val sum = new EventTimeStats
        sum.merge(earlier)
        sum.merge(recent)
        sum
      }

    def isRaised: Boolean =
      recent.count > 0 && (earlier == null || wholeMs(recent) > wholeMs(earlier))

    private def wholeMs(rows: EventTimeStats): Long = Math.floorDiv(rows.max, 1000L)

    def take(): Unit = {
      if (earlier == null) earlier = new EventTimeStats
      earlier.merge(recent)
      recent.clear()
    }
  }
}
