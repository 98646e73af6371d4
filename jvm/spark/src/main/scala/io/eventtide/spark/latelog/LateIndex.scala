package io.eventtide.spark.latelog

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.Path

import io.eventtide.spark.spi.LateTotals

/** The index of the late files that count: `<checkpoint>/eventtide/late`, with one entry for each
  * batch with late rows.
  *
  *   - '''Guarantee:''' an entry is written atomically before Spark commits its batch. It counts
  *     once the batch is committed, until a retention forgets the batch.
  *   - '''Revisions:''' a replayed batch writes another entry, `<batch>.<revision>`; the highest
  *     revision counts. Lower revisions are deleted once Spark has committed the batch: until then
  *     another run may be about to commit it. All revisions have the same late rows. They also
  *     agree on whether the rows are stored or only counted, even if the runs have different modes.
  *   - '''Restart:''' continues from the entries below the batch to run, and deletes nothing.
  *   - Ten entries, all older than the batches that Spark can still replay, are folded into one
  *     file. Ten such files are folded again, up to ten thousand entries. A batch folds at most ten
  *     small files. A file is deleted only after the file with its lines exists, and no file is
  *     overwritten.
  *
  * This class is the query's writer; everything else reads the index with `LateIndexReader`.
  */
private[spark] final class LateIndex(
    root: Path,
    retain: Int,
    conf: Configuration,
    foldEvery: Int = LateIndex.FoldEvery
) {
  private val files = new LateIndexFiles(root, conf)
  private var present = Vector.empty[LateIndexFile] // of committed batches, in order
  private var replaced = Vector.empty[LateIndexFile]
  private var begun =
    Map.empty[Long, Int] // the highest revision of each batch that may be replayed
  private var newest = Option.empty[LateIndexEntry]

  /** The last entry, if any. */
  def last: Option[LateIndexEntry] = newest

  /** The totals up to the last entry. */
  def totals: LateTotals = newest.fold(LateTotals.None)(_.totals)

  /** Restores the state from the batches before `below`. */
  def restore(below: Long): Unit = {
    val (current, old) = LateIndexFile.sort(files.names)
    val (again, kept) = current.partition(_.first >= below)
    kept.filter(_.last >= below).foreach { file =>
      files.unreadable(
        file.name,
        s"batch $below is replayed, but the file combines it with earlier batches"
      )
    }
    begun = again.map(file => file.first -> file.revision).toMap
    replaced = old
    present = kept
    newest = kept.lastOption.map(file => files.entry(file, files.heads(file).last))
  }

  /** Writes the late rows of a batch, if it has any, or had any in an earlier attempt. */
  def write(batchId: Long, atMicros: Long, windows: Seq[WindowLateEntry]): Unit = {
    clear(batchId)
    val before = begun.get(batchId)
    val earlier =
      before.toSeq.flatMap(revision => files.entries(LateIndexFile.batch(batchId, revision)))
    val late = windows.filter(_.rows.nonEmpty).map(window => asWritten(window, earlier))
    if (late.nonEmpty || before.isDefined) {
      val total = LateIndexEntry.sum(totals.rows +: late.map(_.rows))
      val file = LateIndexFile.batch(batchId, before.fold(0)(_ + 1))
      // A clock that was set back must not make rows seem older than those before them.
      val at = newest.fold(atMicros)(last => math.max(last.atMicros, atMicros))
      val entry = LateIndexEntry(batchId, newest.map(_.batchId), at, total, late)
      files.write(file, Seq(entry.json))
      replaced ++= before.map(LateIndexFile.batch(batchId, _))
      present :+= file
      newest = Some(entry)
      fold(batchId - retain)
    }
  }

  /** Replaces the batches that a retention has forgotten by its entry. */
  def forget(batches: LateIndexEntry): Unit = {
    val (current, old) = LateIndexFile.sort(files.names)
    replaced = (replaced ++ old.filter(_.last <= batches.batchId)).distinctBy(_.name)
    val first = batches.batchId + 1
    val kept = present.filter(_.last >= first).map(of => of.copy(first = math.max(of.first, first)))
    present = current.filter(_.isForgotten) ++ kept
  }

  // Another run may have stored these rows, or only counted them, and may be about to commit that.
  private def asWritten(window: WindowLateEntry, earlier: Seq[LateIndexEntry]): WindowLateEntry =
    earlier
      .flatMap(_.windows)
      .find(other => other.window == window.window && other.files.isEmpty != window.files.isEmpty)
      .getOrElse(window)

  // Spark commits a batch before it begins the next one.
  private def clear(below: Long): Unit = {
    val (gone, kept) = replaced.partition(_.last < below)
    gone.foreach(files.delete)
    replaced = kept
  }

  // Spark may be set back by `retain` batches. The lowest level is folded first, so that files of
  // one level are adjacent.
  private def fold(below: Long): Unit = {
    val old = present.filter(_.last < below)
    val byLevel = (0 until LateIndex.Levels).map(level => old.filter(_.level == level))
    byLevel.find(_.length >= foldEvery).foreach(found => fold(found.take(foldEvery)))
  }

  private def fold(old: Seq[LateIndexFile]): Unit = {
    val whole = LateIndexFile.fold(old)
    files.write(whole, old.flatMap(files.lines))
    old.foreach(files.delete)
    present = (whole +: present.diff(old)).sortBy(_.first)
  }
}

private[latelog] object LateIndex {
  private val FoldEvery = 10
  private val Levels = 4
}
