package io.eventtide.spark.late

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.Path

/** Which late files count: `<checkpoint>/eventtide/late`, an entry for each batch with late rows.
  *
  *   - '''Guarantee:''' an entry is written before Spark commits its batch, whole or not at all. It
  *     counts once the batch is committed, and is never purged.
  *   - '''Restart:''' entries of batches that will run again go, and are written anew.
  *   - A hundred entries, all older than what Spark can still run again, become one file, and a
  *     hundred of these one more. A file goes only when the one with its lines is there, and none is
  *     written twice.
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
  private var (present, replaced) = LateIndexFile.sort(files.names)
  private var last = Option.empty[Long]
  private var counted = LateEntry.NoRows

  /** Rows by reason since the checkpoint began. */
  def total: Map[String, Long] = counted

  /** Forgets the batches from `below` on, and goes on from those before. */
  def restore(below: Long): Unit = {
    replaced.foreach(files.delete)
    replaced = Vector.empty
    val (again, kept) = present.partition(_.first >= below)
    kept.filter(_.last >= below).foreach { file =>
      files.unreadable(file.name, s"batch $below is to run again, for which it is too old")
    }
    again.foreach(files.delete)
    present = kept
    val newest = kept.lastOption.map(files.entries(_).last)
    last = newest.map(_.batchId)
    counted = newest.fold(LateEntry.NoRows)(_.total)
  }

  /** Writes the late rows of a batch, if there are any. */
  def write(batchId: Long, windows: Seq[LateOfWindow]): Unit = {
    val late = windows.filter(_.rows.nonEmpty)
    if (late.nonEmpty) {
      val total = LateEntry.sum(counted +: late.map(_.rows))
      val file = LateIndexFile.batch(batchId)
      files.write(file, Seq(LateEntry(batchId, last, total, late).json))
      present :+= file
      last = Some(batchId)
      counted = total
      (0 until LateIndex.Levels).foreach(fold(_, batchId - retain))
    }
  }

  // Spark commits a batch before it begins the next, and may be set back by `retain` batches.
  private def fold(level: Int, below: Long): Unit = {
    val old = present.filter(file => file.level == level && file.last < below)
    if (old.length >= foldEvery) {
      val whole = LateIndexFile.fold(old)
      files.write(whole, old.flatMap(files.lines))
      old.foreach(files.delete)
      present = (whole +: present.diff(old)).sortBy(_.first)
    }
  }
}

private[late] object LateIndex {
  private val FoldEvery = 100
  private val Levels = 2
}
