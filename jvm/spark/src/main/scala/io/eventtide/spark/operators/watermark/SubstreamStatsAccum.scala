package io.eventtide.spark.operators.watermark

import java.io.ObjectOutputStream

import scala.collection.mutable

import org.apache.spark.sql.execution.streaming.operators.stateful.{
  EventTimeStats => SparkEventTimeStats,
  EventTimeStatsAccum
}
import org.apache.spark.util.AccumulatorV2

import io.eventtide.spark.spi.PartitionEventTimeStats

/** Brings what the tasks saw to the driver, and the policy's answer to Spark's tracker.
  *
  * Reports are kept by partition, the fullest one: a retried task, a stage that is run again and a
  * `foreachBatch` that reads its frame twice report the same partition again, a `first()` only the
  * beginning of it, and a sum over tasks would count its rows twice.
  *
  * `value` is what Spark asks for at the end of a batch. On the driver the batch answers it with the
  * combined watermark; a copy in a task, or one that a heartbeat brought, knows no batch and says
  * that there were no rows.
  */
final class SubstreamStatsAccum(@transient private val batch: Option[WatermarkBatchContext])
    extends EventTimeStatsAccum {

  private val partitions = mutable.HashMap.empty[Int, PartitionEventTimeStats]

  /** The report of one partition, begun anew. */
  def begin(partition: Int): PartitionEventTimeStats = synchronized {
    val rows = new PartitionEventTimeStats
    partitions(partition) = rows
    rows
  }

  def reports: Seq[PartitionEventTimeStats] = synchronized(partitions.values.toSeq)

  override def value: SparkEventTimeStats =
    if (batch == null) SparkEventTimeStats.zero else batch.fold(SparkEventTimeStats.zero)(_.stats)

  override def isZero: Boolean = synchronized(partitions.isEmpty)

  override def copy(): SubstreamStatsAccum = synchronized {
    val copied = new SubstreamStatsAccum(None)
    copied.partitions ++= partitions
    copied
  }

  override def reset(): Unit = synchronized(partitions.clear())

  override def merge(other: AccumulatorV2[Long, SparkEventTimeStats]): Unit = other match {
    case that: SubstreamStatsAccum => synchronized(that.partitions.foreachEntry(keepFullest))
    case _ => throw new IllegalArgumentException(s"cannot merge ${other.getClass.getName}")
  }

  private def keepFullest(partition: Int, report: PartitionEventTimeStats): Unit =
    if (partitions.get(partition).forall(_.total <= report.total)) partitions(partition) = report

  // A heartbeat serialises the accumulator while its task may begin a partition.
  private def writeObject(out: ObjectOutputStream): Unit = synchronized(out.defaultWriteObject())
}
