package io.eventtide.spark.latelog

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.{FileStatus, Path}
import org.apache.spark.sql.eventtide.StreamExecutionAccess
import org.apache.spark.sql.types.StructType

import io.eventtide.spark.EventtideException
import io.eventtide.spark.checkpoint.{CheckpointPath, CheckpointSetBack}

/** Reads the late log of one window. Only files that the index names count.
  *
  * @param window
  *   the position of the window in the query
  */
private[spark] final class LateLogReader(
    root: Path,
    window: Int,
    log: LateLogSpec,
    conf: Configuration
) {
  private val index = new LateIndexReader(root, conf)
  private val folder = log.folder(root)

  def schema: StructType = log.schema

  def name: String = s"late rows of window $window of $root"

  /** The last committed batch with late rows of any window. */
  def lastLate: Option[Long] = index.lastLate

  /** The last committed batch. */
  def lastCommitted: Option[Long] = index.lastCommitted

  /** The batch with which the first `batches` batches above `after` end; at most `until`. */
  def upTo(after: Long, until: Long, batches: Int): Long = index.upTo(after, until, batches)

  /** Creates the mark with which a query records its position in this log.
    *
    * @param source
    *   the folder that Spark assigns to the source in the checkpoint of the reading query
    */
  def mark(reader: StreamExecutionAccess, source: String): LateMark =
    new LateMark(new LateReaders(root, conf), reader.id, reader.label, source, () => hasRetention)

  // Read again for every call: the query may get a retention while a stream reads its log.
  private def hasRetention: Boolean =
    new LateLogSpecs(root, conf).read().values.exists(_.keepMicros.isDefined)

  /** The files of all current batches that may have rows for `selection`. */
  def files(selection: LateSelection, skipsMissing: Boolean): Seq[FileStatus] = {
    if (!skipsMissing) refuseUnbalanced()
    lastLate.fold(Seq.empty[FileStatus])(files(-1, _, selection, skipsMissing))
  }

  /** The files of the batches above `after`, up to and including `until`, that may have rows for
    * `selection`.
    */
  def files(
      after: Long,
      until: Long,
      selection: LateSelection,
      skipsMissing: Boolean
  ): Seq[FileStatus] = {
    val entries =
      if (skipsMissing) index.readable(after, until, selection)
      else index.entries(after, until, selection)
    val named = entries.flatMap(_.filesOf(window)).filter(selection.takes).distinctBy(_.name)
    val damaged = new LateFilesCheck(folder, conf).damaged(named)
    if (!skipsMissing) LateFilesCheck.refuse(root, damaged)
    val left = damaged.map(_.file.name).toSet
    named.filterNot(file => left(file.name)).map(status)
  }

  /** Fails if the query has not committed a batch that a stream has read. */
  def refuseSetBack(read: Long): Unit = CheckpointSetBack.refuse(root, read, lastCommitted)

  /** Fails if batches after `after` have been forgotten before they were read. */
  def refuseForgotten(after: Long): Unit = {
    val forgotten = index.forgotten
    if (after >= 0 && after < forgotten) {
      throw EventtideException(
        "LATE_ROWS_FORGOTTEN",
        "root" -> root,
        "read" -> after,
        "forgotten" -> forgotten
      )
    }
  }

  /** The last forgotten batch, if one of `files` may have rows of forgotten batches. Call this
    * after the files have been found.
    *
    * Such a file is left when a retention and a compaction run at the same time.
    */
  def forgottenIn(files: Seq[FileStatus]): Option[Long] = {
    val compacted = files.map(_.getPath.getName).filter(LateFileInfo.isCompacted)
    val first = compacted.flatMap(LateFileInfo.batches).map(_.first).minOption
    first.flatMap(batch => Some(index.forgotten).filter(_ >= batch))
  }

  /** Fails if the totals of the index and of the ledger differ. */
  def refuseUnbalanced(): Unit = index.refuseUnbalanced()

  // The index has the length, so the file system need not be queried for each file.
  private def status(file: LateFileInfo): FileStatus = {
    val modified = 0L
    new FileStatus(file.bytes, false, 1, file.bytes, modified, new Path(folder, file.name))
  }
}

private[spark] object LateLogReader {

  /** Finds the late log of a window in a checkpoint; the error lists the existing logs. */
  def open(checkpoint: String, window: Option[String], conf: Configuration): LateLogReader = {
    val root = CheckpointPath.root(checkpoint, conf)
    val logs = new LateLogSpecs(root, conf).read()
    if (logs.isEmpty) throw EventtideException("LATE_LOG_MISSING", "root" -> root)
    val chosen = window.fold(only(root, logs))(named(root, logs, _))
    new LateLogReader(root, chosen, logs(chosen), conf)
  }

  private def only(root: Path, logs: Map[Int, LateLogSpec]): Int =
    if (logs.size == 1) logs.keys.head else refuse(root, logs, "missing")

  private def named(root: Path, logs: Map[Int, LateLogSpec], window: String): Int =
    window.toIntOption.filter(logs.contains).getOrElse(refuse(root, logs, s"'$window'"))

  private def refuse(root: Path, logs: Map[Int, LateLogSpec], value: String): Nothing =
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
