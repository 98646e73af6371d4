package io.eventtide.spark.query.history

import java.io.{ByteArrayInputStream, DataInputStream}

import scala.collection.mutable.ArrayBuffer

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.Path

import io.eventtide.kernel.completeness.{ClosedWindow, ClosedWindows}
import io.eventtide.spark.EventtideException
import io.eventtide.spark.checkpoint.{BatchLedger, CheckpointFiles, LedgerEntry}

/** A window of a query that has closed, and the number of rows that have come too late for it. */
private[spark] final case class ClosedWindowRow(window: ClosedWindow, late: Long)

/** Reads the closed windows of a query from its checkpoint. Works while the query is writing.
  *
  * @param position
  *   the position of the window operator in the query
  */
private[spark] final class ClosedWindowReader(val root: Path, position: Int, conf: Configuration) {
  private val commits = new CheckpointFiles(new Path(root, "commits"), conf)

  /** The last batch that Spark has committed. */
  def lastCommitted: Option[Long] = commits.lastBatch

  /** Fails if the query has no such window, or does not count its rows; only once a batch is committed.
    */
  def check(): Unit = lastCommitted.foreach(until => recordsOf(entries(until)))

  private def entries(until: Long): Seq[LedgerEntry] =
    BatchLedger.reading(root, conf)(_.read(below = until + 1))

  /** The windows that committed batches have closed, up to `until`, in the order in which they have
    * closed.
    */
  def read(until: Long): ClosedWindowList = {
    val read = entries(until)
    val windows = BatchLedger.decode(root, read)(ClosedWindowReader.restored(recordsOf(read)))
    val rows = ArrayBuffer.empty[ClosedWindowRow]
    windows.foreach((window, late) => rows += ClosedWindowRow(window, late): Unit)
    ClosedWindowList(rows.toSeq, windows.forgotten)
  }

  private def recordsOf(entries: Seq[LedgerEntry]): Seq[Array[Byte]] = {
    val last = entries.last.completeness
    if (!last.isDefinedAt(position)) {
      throw EventtideException(
        "WINDOW_UNKNOWN",
        "window" -> position,
        "root" -> root,
        "count" -> last.length
      )
    }
    if (last(position).isEmpty)
      throw EventtideException("COMPLETENESS_NOT_COUNTED", "window" -> position, "root" -> root)
    entries.flatMap(_.completeness.lift(position))
  }
}

private[query] object ClosedWindowReader {

  /** The time in microseconds up to which each window of a query has closed, by its position; None if
    * its rows are not counted, or none has closed.
    */
  def closedUpTo(entries: Seq[LedgerEntry]): Seq[Option[Long]] =
    entries.last.completeness.zipWithIndex.map { case (last, position) =>
      val records = entries.flatMap(_.completeness.lift(position))
      Option.when(last.nonEmpty)(restored(records).closedUpTo).filter(_ > Long.MinValue)
    }

  private def restored(records: Seq[Array[Byte]]): ClosedWindows = {
    val windows = new ClosedWindows(Int.MaxValue)
    records.foreach { bytes =>
      windows.restore(new DataInputStream(new ByteArrayInputStream(bytes)))
    }
    windows
  }
}

/** Closed windows.
  *
  * @param forgotten
  *   the last batch of which windows are no longer known; -1 if there is none
  */
private[spark] final case class ClosedWindowList(rows: Seq[ClosedWindowRow], forgotten: Long)
