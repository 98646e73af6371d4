package io.eventtide.spark.latelog

import java.util.UUID

import io.eventtide.kernel.window.TimeRange

/** A late file that counts.
  *
  * @param bytes
  *   the length of the file, stored so that readers need not query the file system for each file
  * @param times
  *   the range of the rows' event times, or of the rows of one batch if the file has several
  *   batches; None if no row has an event time
  */
final case class LateFileInfo(name: String, bytes: Long, times: Option[TimeRange] = None)

/** The batches that a late file may have rows of, both ends inclusive. */
private[latelog] final case class BatchRange(first: Long, last: Long) {
  def contains(batchId: Long): Boolean = first <= batchId && batchId <= last

  def isWithin(other: BatchRange): Boolean = other.contains(first) && other.contains(last)
}

private[latelog] object LateFileInfo {
  private val Number = "(\\d{1,18})"
  private val Unique = "[0-9a-f]{12}(?:\\.[a-z0-9_]+)*\\.parquet"
  private val TaskFile = s"$Number-$Number-$Unique".r
  private val CompactionFile = s"$Number-$Number-$Number-$Unique".r

  /** The unique name of a task attempt's file: `<batch>-<partition>-<unique>.<codec>.parquet`. */
  def taskFile(batchId: Long, partition: Int, extension: String): String =
    s"$batchId-$partition-$unique$extension"

  /** The unique name of a file with several batches:
    * `<first>-<last>-<part>-<unique>.<codec>.parquet`.
    */
  def compactionFile(batches: BatchRange, part: Int, extension: String): String =
    s"${batches.first}-${batches.last}-$part-$unique$extension"

  def isCompacted(name: String): Boolean = CompactionFile.matches(name)

  private def unique: String = UUID.randomUUID().toString.takeRight(12)

  /** The batches of a file, parsed from its name; None if it is not a name that Eventtide gives. */
  def batches(name: String): Option[BatchRange] = name match {
    case TaskFile(batch, _) => Some(BatchRange(batch.toLong, batch.toLong))
    case CompactionFile(first, last, _) => Some(BatchRange(first.toLong, last.toLong))
    case _ => None
  }
}
