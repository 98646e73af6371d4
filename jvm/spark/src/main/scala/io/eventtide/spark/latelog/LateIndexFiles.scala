package io.eventtide.spark.latelog

import java.io.FileNotFoundException
import java.nio.charset.StandardCharsets.UTF_8

import scala.util.control.NonFatal

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.Path

import io.eventtide.spark.EventtideException
import io.eventtide.spark.checkpoint.CheckpointFiles

/** The files of an index: a line with the version, then one line per batch. */
private[latelog] final class LateIndexFiles(root: Path, conf: Configuration) {
  private val files = new CheckpointFiles(new Path(root, LateIndexFiles.Folder), conf)

  def names: Seq[String] = files.names

  /** The files that count, in the order of their batches. */
  def present: Vector[LateIndexFile] = LateIndexFile.sort(names)._1

  def delete(file: LateIndexFile): Unit = files.delete(file.name)

  def write(file: LateIndexFile, lines: Seq[String]): Unit = {
    val text = (LateIndexFiles.Version +: lines).mkString("\n")
    files.write(file.name)(_.write(text.getBytes(UTF_8))): Unit
  }

  /** The lines of a file, unparsed. */
  @throws[FileNotFoundException]
  def lines(file: LateIndexFile): Seq[String] = files.read(file.name) { in =>
    val lines = new String(in.readAllBytes(), UTF_8).linesIterator.toSeq
    if (!lines.headOption.contains(LateIndexFiles.Version)) {
      unreadable(file.name, s"it does not begin with '${LateIndexFiles.Version}'")
    }
    if (lines.length == 1) unreadable(file.name, "it ends too early")
    lines.tail
  }

  @throws[FileNotFoundException]
  def entries(file: LateIndexFile): Seq[LateIndexEntry] = heads(file).map(entry(file, _))

  /** The parsed heads of a file's lines: much cheaper than parsing the complete lines. */
  @throws[FileNotFoundException]
  def heads(file: LateIndexFile): Seq[LateLine] = {
    val text = lines(file)
    reading(file)(text.map(LateLine(_)))
  }

  def entry(file: LateIndexFile, line: LateLine): LateIndexEntry = reading(file)(line.entry)

  private def reading[A](file: LateIndexFile)(read: => A): A =
    try read
    catch {
      case foreign: LateIndexEntry.Foreign => unreadable(file.name, foreign.getMessage)
      case NonFatal(_) =>
        unreadable(file.name, "one of its lines is invalid")
    }

  def unreadable(name: String, reason: String): Nothing =
    throw EventtideException(
      "LATE_INDEX_UNREADABLE",
      "file" -> name,
      "root" -> root,
      "reason" -> reason
    )
}

private[latelog] object LateIndexFiles {
  val Folder = "eventtide/late"

  /** Incremented with every change of the format; see "State format" in CHANGELOG.md. */
  private val Version = "v1"
}
