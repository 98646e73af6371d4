package io.eventtide.spark.exec

import java.io.ObjectOutputStream

import scala.collection.mutable

import org.apache.spark.util.AccumulatorV2

import io.eventtide.spark.options.WindowSettings

/** What is next due: the end of the first window to close, and the first time by the clock, in
  * microseconds; `Never` where there is none.
  */
private[spark] final case class NextDue(end: Long, clockMicros: Long) {

  /** Whether a watermark closes that window, of these settings. */
  def isClosed(watermark: Option[Long], settings: WindowSettings): Boolean =
    watermark.exists(end <= settings.closedUpTo(_))
}

private[spark] object NextDue {
  val Never: Long = Long.MaxValue

  val Nothing: NextDue = NextDue(Never, Never)

  def earliest(all: Iterable[NextDue]): NextDue =
    all.foldLeft(Nothing) { (one, other) =>
      NextDue(math.min(one.end, other.end), math.min(one.clockMicros, other.clockMicros))
    }
}

/** Brings to the driver what is next due in each partition.
  *
  * The last report of a partition counts, whichever attempt of its task it is of: they are the same.
  */
final class DueAccum extends AccumulatorV2[(Int, NextDue), Map[Int, NextDue]] {
  private val partitions = mutable.HashMap.empty[Int, NextDue]

  override def add(report: (Int, NextDue)): Unit = synchronized(partitions += report): Unit

  override def value: Map[Int, NextDue] = synchronized(partitions.toMap)

  override def isZero: Boolean = synchronized(partitions.isEmpty)

  override def copy(): DueAccum = synchronized {
    val copied = new DueAccum
    copied.partitions ++= partitions
    copied
  }

  override def reset(): Unit = synchronized(partitions.clear())

  override def merge(other: AccumulatorV2[(Int, NextDue), Map[Int, NextDue]]): Unit =
    other match {
      case that: DueAccum => synchronized(partitions ++= that.partitions): Unit
      case _ => throw new IllegalArgumentException(s"cannot merge ${other.getClass.getName}")
    }

  // A heartbeat serialises the accumulator while its task may report.
  private def writeObject(out: ObjectOutputStream): Unit = synchronized(out.defaultWriteObject())
}
