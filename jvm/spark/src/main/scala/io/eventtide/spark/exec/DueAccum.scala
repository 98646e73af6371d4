package io.eventtide.spark.exec

import java.io.ObjectOutputStream

import scala.collection.mutable

import org.apache.spark.util.AccumulatorV2

/** Brings to the driver when each partition next owes a result: the end of its first window to close.
  *
  * The last report of a partition counts, whichever attempt of its task it is of: they are the same.
  */
final class DueAccum extends AccumulatorV2[(Int, Long), Option[Long]] {
  private val ends = mutable.HashMap.empty[Int, Long]

  override def add(report: (Int, Long)): Unit = synchronized(ends += report): Unit

  /** The earliest of all partitions; None before there is a report. */
  override def value: Option[Long] = synchronized(ends.valuesIterator.minOption)

  override def isZero: Boolean = synchronized(ends.isEmpty)

  override def copy(): DueAccum = synchronized {
    val copied = new DueAccum
    copied.ends ++= ends
    copied
  }

  override def reset(): Unit = synchronized(ends.clear())

  override def merge(other: AccumulatorV2[(Int, Long), Option[Long]]): Unit = other match {
    case that: DueAccum => synchronized(ends ++= that.ends): Unit
    case _ => throw new IllegalArgumentException(s"cannot merge ${other.getClass.getName}")
  }

  // A heartbeat serialises the accumulator while its task may report.
  private def writeObject(out: ObjectOutputStream): Unit = synchronized(out.defaultWriteObject())
}
