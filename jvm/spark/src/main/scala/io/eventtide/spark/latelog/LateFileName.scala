package io.eventtide.spark.latelog

import java.util.UUID

import io.eventtide.kernel.window.TimeRange

/** A late file that counts.
  *
  * @param bytes
  *   its length: the file system need not be asked for each
  * @param times
  *   of its rows, or of those of one batch where it has several; None where no row has a time
  */
final case class LateFileName(name: String, bytes: Long, times: Option[TimeRange] = None)

/** The batches that a late file may have rows of, both ends included. */
private[latelog] final case class BatchRange(first: Long, last: Long) {
  def contains(batchId: Long): Boolean = first <= batchId && batchId <= last

  def isWithin(other: BatchRange): Boolean = other.contains(first) && other.contains(last)
}

private[latelog] object LateFileName {
  private val Number = "(\\d{1,18})"
  private val Unique = "[0-9a-f]{12}(?:\\.[a-z0-9_]+)*\\.parquet"
  private val OfTask = s"$Number-$Number-$Unique".r
  private val OfCompaction = s"$Number-$Number-$Number-$Unique".r

  /** A name that no other attempt gives: `<batch>-<partition>-<unique>.<codec>.parquet`. */
  def ofTask(batchId: Long, partition: Int, extension: String): String =
    s"$batchId-$partition-$unique$extension"

  /** The same with rows of several batches: `<first>-<last>-<part>-<unique>.<codec>.parquet`. */
  def ofCompaction(batches: BatchRange, part: Int, extension: String): String =
    s"${batches.first}-${batches.last}-$part-$unique$extension"

  def isCompacted(name: String): Boolean = OfCompaction.matches(name)

  private def unique: String = UUID.randomUUID().toString.takeRight(12)

  /** The batches of a file by its name; None if Eventtide does not give such names. */
  def batches(name: String): Option[BatchRange] = name match {
    case OfTask(batch, _) => Some(BatchRange(batch.toLong, batch.toLong))
    case OfCompaction(first, last, _) => Some(BatchRange(first.toLong, last.toLong))
    case _ => None
  }
}
