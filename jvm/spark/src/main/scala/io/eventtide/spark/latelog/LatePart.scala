package io.eventtide.spark.latelog

import scala.collection.mutable

import org.apache.spark.TaskContext
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.types.StructType

import io.eventtide.kernel.window.TimeRange

/** The part of a file that belongs to one batch. */
private[latelog] final case class PartBatch(rows: Long, times: Option[TimeRange])

/** A file with the late rows of several batches. */
private[latelog] final case class LatePart(
    name: String,
    bytes: Long,
    batches: Map[Long, PartBatch]
) {
  def of(batchId: Long): Option[LateFileInfo] =
    batches.get(batchId).map(batch => LateFileInfo(name, bytes, batch.times))
}

/** Writes the rows of one task into a file. No index names the file of a failed attempt. */
private[latelog] final class LatePartWriter(files: LateFiles, range: BatchRange, schema: StructType)
    extends Serializable {
  private val batchColumn = schema.fieldIndex("_batch_id")
  private val timeColumn = schema.fieldIndex("_event_time")

  def write(rows: Iterator[InternalRow]): Iterator[LatePart] =
    if (rows.isEmpty) Iterator.empty
    else {
      val file = files.createPart(range, TaskContext.getPartitionId())
      try Iterator.single(write(rows, file))
      catch {
        case failure: Throwable =>
          file.discard()
          throw failure
      }
    }

  private def write(rows: Iterator[InternalRow], file: LateFileWriter): LatePart = {
    val batches = mutable.HashMap.empty[Long, PartBatch]
    rows.foreach { row =>
      file.write(row)
      val batchId = row.getLong(batchColumn)
      val before = batches.getOrElse(batchId, LatePartWriter.NoRows)
      batches(batchId) = PartBatch(before.rows + 1, timesWith(before.times, row))
    }
    LatePart(file.name, file.close(), batches.toMap)
  }

  private def timesWith(times: Option[TimeRange], row: InternalRow): Option[TimeRange] =
    if (row.isNullAt(timeColumn)) times
    else {
      val micros = row.getLong(timeColumn)
      val known = times.getOrElse(TimeRange(micros, micros))
      Some(TimeRange(math.min(known.lowest, micros), math.max(known.highest, micros)))
    }
}

private object LatePartWriter {
  private val NoRows = PartBatch(0, None)
}
