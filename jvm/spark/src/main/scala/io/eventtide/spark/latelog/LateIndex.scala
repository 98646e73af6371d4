package io.eventtide.spark.latelog

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.Path

import io.eventtide.spark.spi.LateTotals

/** Which late files count: `<checkpoint>/eventtide/late`, an entry for each batch with late rows.
  *
  *   - '''Guarantee:''' an entry is written before Spark commits its batch, whole or not at all. It
  *     counts once the batch is committed, and is never purged.
  *   - '''Revisions:''' a batch that is run again has an entry of its own, `<batch>.<revision>`; the
  *     highest counts. Lower ones go once Spark has committed the batch: until then another run may
  *     be about to commit it. The late rows of all revisions are the same, and so is whether they are
  *     kept or only counted, which runs may choose otherwise.
  *   - '''Restart:''' goes on from the entries below the batch to run, and deletes nothing.
  *   - Ten entries, all older than what Spark can still run again, become one file, ten of these one
  *     more, and so on up to ten thousand entries. A batch pays for ten small files at the most. A
  *     file goes only when the one with its lines is there, and none is written twice.
  *
  * It is the query's side; `LateIndexReader` is what anybody else sees of it.
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
  private var begun = Map.empty[Long, Int] // the highest revision of a batch that may run again
  private var newest = Option.empty[LateIndexEntry]

  /** The last entry. */
  def last: Option[LateIndexEntry] = newest

  /** What there is up to the last batch. */
  def totals: LateTotals = newest.fold(LateTotals.None)(_.totals)

  /** Goes on from the batches before `below`. */
  def restore(below: Long): Unit = {
    val (current, old) = LateIndexFile.sort(files.names)
    val (again, kept) = current.partition(_.first >= below)
    kept.filter(_.last >= below).foreach { file =>
      files.unreadable(file.name, s"batch $below is to run again, for which it is too old")
    }
    begun = again.map(file => file.first -> file.revision).toMap
    replaced = old
    present = kept
    newest = kept.lastOption.map(file => files.entry(file, files.heads(file).last))
  }

  /** Writes the late rows of a batch, if there are any, or were when it was run before. */
  def write(batchId: Long, atMicros: Long, windows: Seq[WindowLateEntry]): Unit = {
    clear(batchId)
    val before = begun.get(batchId)
    val earlier =
      before.toSeq.flatMap(revision => files.entries(LateIndexFile.batch(batchId, revision)))
    val late = windows.filter(_.rows.nonEmpty).map(window => asWritten(window, earlier))
    if (late.nonEmpty || before.isDefined) {
      val total = LateIndexEntry.sum(totals.rows +: late.map(_.rows))
      val file = LateIndexFile.batch(batchId, before.fold(0)(_ + 1))
      val entry = LateIndexEntry(batchId, newest.map(_.batchId), atMicros, total, late)
      files.write(file, Seq(entry.json))
      replaced ++= before.map(LateIndexFile.batch(batchId, _))
      present :+= file
      newest = Some(entry)
      fold(batchId - retain)
    }
  }

  /** Goes on without batches that a retention has forgotten. */
  def forget(batches: LateIndexEntry): Unit = {
    val (current, old) = LateIndexFile.sort(files.names)
    replaced = (replaced ++ old.filter(_.last <= batches.batchId)).distinctBy(_.name)
    val first = batches.batchId + 1
    val kept = present.filter(_.last >= first).map(of => of.copy(first = math.max(of.first, first)))
    present = current.filter(_.isForgotten) ++ kept
  }

  // Another run may have kept these rows, or only counted them, and may be about to commit that.
  private def asWritten(window: WindowLateEntry, earlier: Seq[LateIndexEntry]): WindowLateEntry =
    earlier
      .flatMap(_.windows)
      .find(other => other.window == window.window && other.files.isEmpty != window.files.isEmpty)
      .getOrElse(window)

  // Spark commits a batch before it begins the next.
  private def clear(below: Long): Unit = {
    val (gone, kept) = replaced.partition(_.last < below)
    gone.foreach(files.delete)
    replaced = kept
  }

  // Spark may be set back by `retain` batches. The lowest level comes first, so that files of one
  // level lie side by side.
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
