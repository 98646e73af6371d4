package io.eventtide.spark.source

import org.apache.spark.sql.connector.read.streaming.{Offset, ReadLimit}
import org.apache.spark.sql.connector.read.{InputPartition, PartitionReaderFactory}
import org.apache.spark.sql.execution.streaming.runtime.LongOffset

import io.eventtide.spark.EventtideException
import io.eventtide.spark.checkpoint.CheckpointSetBack
import io.eventtide.spark.query.history.{ClosedWindowList, ClosedWindowReader}
import io.eventtide.spark.spi.NumberedStream

/** The closed windows of a query as a stream. Its offset is the last batch of the query that closed a
  * window and was read; -1 for none.
  */
private final class CompletenessStream(name: String, windows: ClosedWindowReader)
    extends NumberedStream {
  private var isChecked = false
  private var committed = Option.empty[Long]
  private var known = -1L // the last batch up to `committed` that closed a window
  private var end = Option.empty[Option[Long]] // set for an available-now run

  override def prepareForTriggerAvailableNow(): Unit = end = Some(lastClosing())

  override def latestOffset(start: Offset, limit: ReadLimit): Offset = {
    if (!isChecked) CheckpointSetBack.refuse(windows.root, numberOf(start), windows.lastCommitted)
    isChecked = true
    val last = end.getOrElse(lastClosing())
    last.map(last => LongOffset(math.max(last, numberOf(start)))).orNull
  }

  // Spark polls the offset about a hundred times a second, so the ledger is read after new commits.
  private def lastClosing(): Option[Long] = {
    val now = windows.lastCommitted
    if (now != committed) {
      now.foreach(batch => known = windows.read(batch).rows.lastOption.fold(-1L)(_.window.batchId))
      committed = now
    }
    now.map(_ => known)
  }

  override def initialOffset: Offset = LongOffset(-1L)

  override def planInputPartitions(start: Offset, end: Offset): Array[InputPartition] = {
    val (after, until) = (numberOf(start), numberOf(end))
    val read = windows.lastCommitted.fold(ClosedWindowList(Nil, -1))(windows.read)
    if (after >= 0 && after < read.forgotten) refuse(after, read.forgotten)
    ClosedWindowRows.partitions(read.rows.filter { row =>
      row.window.batchId > after && row.window.batchId <= until
    })
  }

  private def refuse(read: Long, forgotten: Long): Nothing =
    throw EventtideException(
      "COMPLETENESS_FORGOTTEN",
      "root" -> windows.root,
      "read" -> read,
      "forgotten" -> forgotten
    )

  override def createReaderFactory(): PartitionReaderFactory = ClosedWindowRows.Reader

  override def toString: String = name
}
