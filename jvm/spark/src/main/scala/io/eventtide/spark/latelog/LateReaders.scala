package io.eventtide.spark.latelog

import java.io.InterruptedIOException
import java.net.SocketTimeoutException
import java.nio.channels.ClosedByInterruptException
import java.nio.charset.StandardCharsets.UTF_8
import java.util.UUID

import scala.util.control.NonFatal

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.Path
import org.apache.spark.internal.Logging

import io.eventtide.spark.EventtideException
import io.eventtide.spark.checkpoint.{CheckpointFiles, CheckpointLinks}

/** A stream over a late log, as recorded in the checkpoint with the log.
  *
  * @param id
  *   the id of the reading query and the number of its source; the same in all runs
  * @param batchId
  *   the last batch that the stream has read and committed; -1 for none
  */
private[spark] final case class LateReader(id: String, batchId: Long)

/** The read positions of all streams over a late log: `<checkpoint>/eventtide/readers`, one file
  * `<id>_<batch>` per stream.
  *
  *   - '''Guarantee:''' a reader is recorded before its first batch. Its recorded position is never
  *     ahead of the batches that it has committed. A position counts until the reader is removed by
  *     a user.
  *   - '''Edges:''' a file is never overwritten. The next file is written before the previous one
  *     is deleted; if there are several, the highest batch counts.
  */
private[spark] final class LateReaders(val root: Path, conf: Configuration) {
  private val files = new CheckpointFiles(new Path(root, LateReaders.Folder), conf)

  /** All readers, ordered by id. The folder is listed twice: a listing that asks for names first, as
    * that of a local disk, may have neither file of a reader that moves meanwhile.
    */
  def all: Seq[LateReader] = (found ++ found)
    .groupMapReduce(_.id)(identity)(LateReaders.later)
    .values
    .toSeq
    .sortBy(_.id)

  /** All readers, each with the label of its query, for messages. */
  def named: Seq[(LateReader, String)] = all.flatMap(named(_, LateReaders.Attempts))

  // A reader that makes progress writes its next file and deletes this one.
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

  private def label(reader: LateReader): Option[String] = files.text(LateReaders.name(reader))

  /** Records the position of a reader. */
  def mark(reader: LateReader, label: String): Unit = {
    files.create(LateReaders.name(reader))(_.write(label.getBytes(UTF_8))): Unit
    found.filter(old => old.id == reader.id && old.batchId < reader.batchId).foreach(delete)
  }

  /** Removes a reader, so that no rows are retained for it any more. */
  def forget(id: String): Unit = {
    CheckpointLinks.refuse(root, conf)
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

/** Records the position of one stream, if the stream can write to the checkpoint.
  *
  *   - '''Edges:''' a stream that cannot write continues without a mark while the log keeps all
  *     rows. It fails if the log has a retention, which would not wait for the stream.
  *
  * @param source
  *   the folder of the source in the reading query's checkpoint: `<checkpoint>/sources/<number>`
  * @param hasRetention
  *   whether rows of the log expire, by the current settings of its query
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

  /** Records the position before the first batch of a run, unless the reader is already recorded.
    */
  def begin(batchId: Long): Unit = if (!isKnown) {
    if (!readers.all.exists(_.id == id)) reached(batchId)
    isKnown = true
  }

  /** Records that the batches up to `batchId` have been read and committed. */
  def reached(batchId: Long): Unit =
    try readers.mark(LateReader(id, batchId), label)
    catch { case NonFatal(failure) if !isStopped(failure) => goOnWithout(failure) }

  private def isStopped(failure: Throwable): Boolean = failure match {
    case _: SocketTimeoutException => false // a subclass of InterruptedIOException
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
        s"The stream $label cannot write its position in the late rows to ${readers.root}/eventtide/readers " +
          s"($failure). It continues, because all late rows are kept. A later late_retention of the " +
          "query would not wait for this stream."
      )
    }
}
