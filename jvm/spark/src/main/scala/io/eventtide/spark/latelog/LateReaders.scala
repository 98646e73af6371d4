package io.eventtide.spark.latelog

import java.io.{FileNotFoundException, InterruptedIOException}
import java.net.SocketTimeoutException
import java.nio.channels.ClosedByInterruptException
import java.nio.charset.StandardCharsets.UTF_8
import java.util.UUID

import scala.util.control.NonFatal

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.Path
import org.apache.spark.internal.Logging

import io.eventtide.spark.EventtideException
import io.eventtide.spark.checkpoint.CheckpointFiles

/** A stream over a late log, as the checkpoint with the log knows it.
  *
  * @param id
  *   the id of the query that reads, and which of its sources it is: the same in all of its runs
  * @param batchId
  *   the last batch that it has read for good; -1 for none
  */
private[spark] final case class LateReader(id: String, batchId: Long)

/** How far those have read who read a late log as a stream: `<checkpoint>/eventtide/readers`, a file
  * `<id>_<batch>` for each.
  *
  *   - '''Guarantee:''' a reader is there before its first batch, and is never said to have read more
  *     than it has read for good. What was written for it counts until somebody removes it.
  *   - '''Edges:''' a file is never written twice: the next is written, then the one before goes, and
  *     of several the highest counts.
  */
private[spark] final class LateReaders(val root: Path, conf: Configuration) {
  private val files = new CheckpointFiles(new Path(root, LateReaders.Folder), conf)

  /** Who reads, in the order of their ids. */
  def all: Seq[LateReader] = found
    .groupMapReduce(_.id)(identity)(LateReaders.later)
    .values
    .toSeq
    .sortBy(_.id)

  /** The same, each with the query that it is, for people. */
  def named: Seq[(LateReader, String)] = all.flatMap(named(_, LateReaders.Attempts))

  // A reader that goes on writes its next file and deletes this one.
  @scala.annotation.tailrec
  private def named(reader: LateReader, left: Int): Option[(LateReader, String)] =
    label(reader) match {
      case Some(known) => Some(reader -> known)
      case None if left == 1 => Some(reader -> "a query that reads now")
      case None =>
        all.find(_.id == reader.id) match {
          case Some(later) => named(later, left - 1)
          case None => None
        }
    }

  private def label(reader: LateReader): Option[String] =
    try Some(files.read(LateReaders.name(reader))(in => new String(in.readAllBytes(), UTF_8)))
    catch { case _: FileNotFoundException => None }

  /** Says that a reader has read so far. */
  def mark(reader: LateReader, label: String): Unit = {
    files.create(LateReaders.name(reader))(_.write(label.getBytes(UTF_8))): Unit
    found.filter(old => old.id == reader.id && old.batchId < reader.batchId).foreach(delete)
  }

  /** Removes a reader, for which nothing is kept from then on. */
  def forget(id: String): Unit = {
    val (gone, others) = found.partition(_.id == id)
    if (gone.isEmpty) {
      throw EventtideException(
        "LATE_READER_UNKNOWN",
        "root" -> root,
        "reader" -> id,
        "known" -> (if (others.isEmpty) "none" else others.map(_.id).distinct.sorted.mkString(", "))
      )
    }
    gone.sortBy(_.batchId).foreach(delete)
  }

  private def found: Seq[LateReader] = files.names.flatMap(LateReaders.parse)

  private def delete(reader: LateReader): Unit = files.delete(LateReaders.name(reader))
}

private[spark] object LateReaders {
  private val Attempts = 5
  private val Folder = "eventtide/readers"
  private val Form = "([0-9a-f-]{36}-\\d{1,9})_(-1|\\d{1,18})".r

  private def name(reader: LateReader) = s"${reader.id}_${reader.batchId}"

  private def parse(name: String): Option[LateReader] = name match {
    case Form(id, batch) => Some(LateReader(id, batch.toLong))
    case _ => None
  }

  private def later(one: LateReader, other: LateReader): LateReader =
    if (one.batchId >= other.batchId) one else other
}

/** Writes down how far one stream is, where it may write.
  *
  *   - '''Edges:''' a stream that may only read goes on without a mark while the log keeps all rows.
  *     It is stopped when the log has a retention, which would not wait for it.
  *
  * @param source
  *   where Spark keeps what belongs to the source: `<checkpoint>/sources/<number>`
  * @param hasRetention
  *   whether rows of the log go, as its query has it now
  */
private[latelog] final class LateMark(
    readers: LateReaders,
    query: UUID,
    label: String,
    source: String,
    hasRetention: () => Boolean
) extends Logging {
  private val id = s"$query-${new Path(source).getName}"
  private var isKnown = false
  private var hasWarned = false

  /** Before the first batch of a run: what it has read so far, unless that is written down. */
  def begin(batchId: Long): Unit = if (!isKnown) {
    if (!readers.all.exists(_.id == id)) reached(batchId)
    isKnown = true
  }

  /** It has read so far for good. */
  def reached(batchId: Long): Unit =
    try readers.mark(LateReader(id, batchId), label)
    catch { case NonFatal(failure) if !isStopped(failure) => goOnWithout(failure) }

  private def isStopped(failure: Throwable): Boolean = failure match {
    case _: SocketTimeoutException => false // which is an interruption by its class
    case _: InterruptedIOException | _: ClosedByInterruptException => true
    case _ => false
  }

  private def goOnWithout(failure: Throwable): Unit =
    if (hasRetention()) {
      throw EventtideException(
        "LATE_READER_UNWRITTEN",
        "root" -> readers.root,
        "reader" -> label,
        "reason" -> failure
      )
    } else if (!hasWarned) {
      hasWarned = true
      logWarning(
        s"The stream $label cannot write in ${readers.root}/eventtide/readers how far it has read " +
          s"the late rows ($failure). It goes on, since all of them are kept. A late_retention that " +
          "the query gets later would not wait for this stream."
      )
    }
}
