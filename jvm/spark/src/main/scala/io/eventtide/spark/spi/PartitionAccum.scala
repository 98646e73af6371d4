package io.eventtide.spark.spi

import java.io.ObjectOutputStream

import scala.collection.mutable

import org.apache.spark.util.AccumulatorV2

/** Collects the reports of all partitions on the driver.
  *
  * The last report of a partition counts: all attempts of a task report the same. If attempts may
  * differ, a subclass compares them in `add`.
  */
class PartitionAccum[T] extends AccumulatorV2[(Int, T), Map[Int, T]] {
  private val partitions = mutable.HashMap.empty[Int, T]
  private val running = mutable.HashMap.empty[Int, T] // from heartbeats, on the driver

  /** A new instance of the same class, without reports. */
  protected def empty: PartitionAccum[T] = new PartitionAccum[T]

  /** The report of a partition that counts, if there is one. */
  protected def known(partition: Int): Option[T] = synchronized(partitions.get(partition))

  override def add(report: (Int, T)): Unit = synchronized(partitions += report): Unit

  override def value: Map[Int, T] = synchronized(partitions.toMap)

  /** Takes the value of a task that still runs, from a heartbeat. */
  def hear(value: Any): Unit = synchronized(running ++= value.asInstanceOf[Map[Int, T]]): Unit

  /** The last report of each partition, also of tasks that still run. */
  def soFar: Map[Int, T] = synchronized(running.toMap ++ partitions)

  override def isZero: Boolean = synchronized(partitions.isEmpty)

  override def copy(): PartitionAccum[T] = {
    val copied = empty
    value.foreach(copied.add)
    copied
  }

  override def reset(): Unit = synchronized(partitions.clear())

  override def merge(other: AccumulatorV2[(Int, T), Map[Int, T]]): Unit = other.value.foreach(add)

  // A heartbeat may serialize the accumulator while its task reports.
  private def writeObject(out: ObjectOutputStream): Unit = synchronized(out.defaultWriteObject())
}
