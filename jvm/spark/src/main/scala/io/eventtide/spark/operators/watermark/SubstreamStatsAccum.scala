package io.eventtide.spark.operators.watermark

import java.io.ObjectOutputStream

import scala.collection.mutable

import org.apache.spark.sql.execution.streaming.operators.stateful.{
  EventTimeStats => SparkEventTimeStats,
  EventTimeStatsAccum
}
import org.apache.spark.util.AccumulatorV2

import io.eventtide.spark.spi.PartitionEventTimeStats

/** Reports the tasks' event times to the driver, and the policies' watermark to Spark's tracker.
  *
  * Of each partition, the report with the most rows is kept. A retried task, a retried stage and a
  * `foreachBatch` that reads its frame twice report the same partition again. A `first()` reports
  * only the beginning of a partition. A sum over tasks would count these rows twice.
  *
  * Spark reads `value` at the end of a batch. On the driver it returns the batch's combined
  * watermark. A copy in a task or in a heartbeat has no batch and returns zero statistics.
  */
final class SubstreamStatsAccum(@transient private val batch: Option[WatermarkBatchContext])
    extends EventTimeStatsAccum {

  private val partitions = mutable.HashMap.empty[Int, PartitionEventTimeStats]

  /** Starts a new report of one partition. */
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

  // A heartbeat serializes the accumulator while its task may begin a partition.
  private def writeObject(out: ObjectOutputStream): Unit = synchronized(out.defaultWriteObject())
}
