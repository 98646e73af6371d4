package io.eventtide.spark.latelog

import scala.util.control.NonFatal

import org.apache.hadoop.fs.Path
import org.apache.spark.sql.classic.{DataFrame, SparkSession}
import org.apache.spark.sql.functions.col

import io.eventtide.spark.EventtideException
import io.eventtide.spark.checkpoint.{CheckpointFiles, CheckpointPath}

/** The result of a compaction: the number of batches with late rows, and of files before and after.
  */
final case class CompactionResult(batches: Int, filesBefore: Int, filesAfter: Int)

/** Merges the many small late files of old batches into a few large ones, also while the query
  * runs.
  *
  *   - '''Guarantee:''' any reader sees each row exactly once at any time. New files count from the
  *     moment the index file that names them is written. That file is written atomically, and from
  *     then on replaces the query's entries of its batches. The query folds and deletes these
  *     entries as usual.
  *   - '''Edges:''' only batches that Spark cannot replay are compacted, in groups of `every`
  *     batches. Concurrent compactions write the same index file names, so the second one fails.
  *   - '''Restart:''' a killed compaction has changed each group of batches completely or not at
  *     all.
  *   - '''Retention:''' if a retention forgets batches during their compaction, the run ends. The
  *     next run continues with the remaining batches.
  *   - Replaced files stay for current readers, and are deleted by the next run.
  */
final class LateCompaction(session: SparkSession, checkpoint: Path, every: Int) {
  private val conf = session.sessionState.newHadoopConf()
  private val root = CheckpointPath.root(checkpoint, conf)
  private val index = new LateIndexReader(root, conf)
  private val files = new LateIndexFiles(root, conf)
  private val folders = new LateFolders(root, conf)

  /** Runs the compaction.
    *
    * @param confirmed
    *   the folders outside the checkpoint that the user has confirmed
    */
  def run(confirmed: Seq[String]): CompactionResult = {
    new LateOrphans(root, conf).clean(confirmed): Unit
    // Stops at the first group that is skipped, because an index file of a compaction replaces all
    // batches before its end.
    val done = cells().iterator.map(compact).takeWhile(_.isDefined).flatten.toSeq
    CompactionResult(
      done.map(_.batches).sum,
      done.map(_.filesBefore).sum,
      done.map(_.filesAfter).sum
    )
  }

  // The query can only be set back to a batch whose offsets Spark still has.
  private def cells(): Seq[Seq[LateIndexEntry]] = {
    val kept = new CheckpointFiles(new Path(root, "offsets"), conf).numbers
    val below = (kept ++ index.lastCommitted).minOption.getOrElse(0L)
    val whole = below / every * every
    val entries = index.entries(index.compacted, whole - 1)
    entries.groupBy(_.batchId / every).toSeq.sortBy(_._1).map(_._2)
  }

  // Returns None if a retention has begun with these batches meanwhile.
  private def compact(entries: Seq[LateIndexEntry]): Option[CompactionResult] = {
    val range = BatchRange(entries.head.batchId, entries.last.batchId)
    write(entries, range).map { parts =>
      val compacted = entries.map(entry => withParts(entry, parts))
      files.write(LateIndexFile.compacted(range), compacted.map(_.json))
      CompactionResult(entries.length, filesOf(entries), filesOf(compacted))
    }
  }

  private def write(
      entries: Seq[LateIndexEntry],
      range: BatchRange
  ): Option[Map[Int, Seq[LatePart]]] = {
    def isForgotten = index.forgotten >= range.first
    val windows = folders.logs.keys.toSeq.sorted
    try {
      val parts = windows.map(window => window -> write(window, entries, range)).toMap
      Some(parts).filterNot(_ => isForgotten)
    } catch {
      // The retention has deleted the rows or files during the read.
      case NonFatal(_) if isForgotten => None
    }
  }

  private def filesOf(entries: Seq[LateIndexEntry]): Int =
    entries.flatMap(_.windows).flatMap(_.files).distinctBy(_.name).length

  private def write(window: Int, entries: Seq[LateIndexEntry], range: BatchRange): Seq[LatePart] = {
    val small = entries.flatMap(_.filesOf(window))
    if (small.isEmpty) Nil
    else {
      val log = folders.logs(window)
      val writer =
        new LatePartWriter(LateFiles(session, folders.of(window), log.schema), range, log.schema)
      val count = (small.map(_.bytes).sum / LateCompaction.FileBytes + 1).toInt
      val sorted = spread(rows(window, range), count).sortWithinPartitions("_batch_id")
      val parts = sorted.queryExecution.toRdd.mapPartitions(writer.write).collect().toSeq
      entries.foreach(refuseOther(window, parts))
      parts
    }
  }

  private def rows(window: Int, range: BatchRange): DataFrame = session.read
    .format(LateSource.Name)
    .option("checkpoint", root.toString)
    .option("window", window.toLong)
    .load()
    .where(col("_batch_id").between(range.first, range.last))

  private def spread(rows: DataFrame, count: Int): DataFrame =
    if (count == 1) rows.repartition(1) else rows.repartitionByRange(count, col("_batch_id"))

  private def refuseOther(window: Int, parts: Seq[LatePart])(entry: LateIndexEntry): Unit = {
    val expected = entry.windows.filter(_.window == window).filter(_.files.nonEmpty)
    val (named, found) =
      (
        expected.flatMap(_.rows.values).sum,
        parts.flatMap(_.batches.get(entry.batchId)).map(_.rows).sum
      )
    if (named != found) {
      throw EventtideException(
        "LATE_ROWS_UNBALANCED",
        "root" -> root,
        "batch" -> entry.batchId,
        "named" -> named,
        "found" -> found
      )
    }
  }

  private def withParts(entry: LateIndexEntry, parts: Map[Int, Seq[LatePart]]): LateIndexEntry =
    entry.copy(windows = entry.windows.map { window =>
      val files = parts.getOrElse(window.window, Nil).flatMap(_.of(entry.batchId))
      if (window.files.isEmpty) window else window.copy(files = files)
    })
}

private[spark] object LateCompaction {

  /** The number of batches in a group. */
  val Every = 1000

  /** The approximate size of a compacted file, in bytes. */
  private val FileBytes = 128L << 20
}
