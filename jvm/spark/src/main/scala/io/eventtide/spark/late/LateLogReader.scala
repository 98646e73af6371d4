package io.eventtide.spark.late

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.{FileStatus, Path}
import org.apache.spark.sql.types.StructType

import io.eventtide.spark.EventtideException

/** The late log of one window, as anybody may read it: only what the index names counts.
  *
  * @param window
  *   its position, and that of the query's only one if there is none
  */
private[spark] final class LateLogReader(
    root: Path,
    window: Int,
    log: LateWindow,
    conf: Configuration
) {
  private val index = new LateIndexReader(root, conf)
  private val folder = log.folder(root)

  def schema: StructType = log.schema

  def name: String = s"late rows of window $window of $root"

  /** The last committed batch with late rows of any window. */
  def lastLate: Option[Long] = index.lastLate

  /** The batch at which so many batches above `after` end, which is `until` at the most. */
  def upTo(after: Long, until: Long, batches: Int): Long = index.upTo(after, until, batches)

  /** The files of the batches above `after`, up to and with `until`. */
  def files(after: Long, until: Long): Seq[FileStatus] =
    index.entries(after, until).flatMap(_.filesOf(window)).map(status)

  /** All that there is now. */
  def files(): Seq[FileStatus] = lastLate.fold(Seq.empty[FileStatus])(files(-1, _))

  // The index has the length, so that the file system need not be asked for each.
  private def status(file: LateFileName): FileStatus = {
    val modified = 0L
    new FileStatus(file.bytes, false, 1, file.bytes, modified, new Path(folder, file.name))
  }
}

private[spark] object LateLogReader {

  /** Finds a late log in a checkpoint, or says what is there. */
  def open(checkpoint: String, window: Option[String], conf: Configuration): LateLogReader = {
    val path = new Path(checkpoint)
    val root = path.getFileSystem(conf).makeQualified(path)
    val logs = new LateWindows(root, conf).read()
    if (logs.isEmpty) throw EventtideException("LATE_LOG_MISSING", "root" -> root)
    val chosen = window.fold(only(root, logs))(named(root, logs, _))
    new LateLogReader(root, chosen, logs(chosen), conf)
  }

  private def only(root: Path, logs: Map[Int, LateWindow]): Int =
    if (logs.size == 1) logs.keys.head else refuse(root, logs, "missing")

  private def named(root: Path, logs: Map[Int, LateWindow], window: String): Int =
    window.toIntOption.filter(logs.contains).getOrElse(refuse(root, logs, s"'$window'"))

  private def refuse(root: Path, logs: Map[Int, LateWindow], value: String): Nothing =
    throw EventtideException(
      "LATE_LOG_WINDOW",
      "root" -> root,
      "value" -> value,
      "known" -> logs.toSeq
        .sortBy(_._1)
        .map { case (i, log) => s"$i (${log.row.toDDL})" }
        .mkString(", ")
    )
}
