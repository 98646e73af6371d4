package io.eventtide.spark.query

import java.io.{EOFException, FileNotFoundException}

import scala.collection.immutable.{SortedMap, SortedSet}

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.Path

import io.eventtide.spark.EventtideException

/** The state of a query's policies after each batch: `<checkpoint>/eventtide/ledger/<batch id>`.
  *
  *   - '''Guarantee:''' an entry is written before Spark commits its batch, so it is there whenever
  *     the commit is; that of batch -1, what the query began with, before the first offset. A batch
  *     that is run again starts from the entry before it and writes its own anew.
  *   - '''Restart:''' the entry before the batch to run, with those it builds on; without it the
  *     checkpoint is refused. What lies above was written by a batch that was never committed, and
  *     goes.
  *   - Every tenth entry is whole, the others hold what changed; `retain` batches can be restored.
  *   - A file is never written twice, since not every file system can replace one: a later revision
  *     of an entry is a file of its own, `<batch id>.<revision>`, and the last one counts.
  */
private[query] final class BatchLedger(root: Path, retain: Int, conf: Configuration) {
  private val files = new CheckpointFiles(new Path(root, "eventtide/ledger"), conf)
  private var sizes = files.sizes.filter { case (name, _) => BatchLedger.Name.matches(name) }
  private var revisions = BatchLedger.revisionsOf(sizes.keys.toSeq)
  private var sinceWhole = BatchLedger.WholeEvery

  /** Whether the next entry has to be whole. */
  def wantsWhole: Boolean = sinceWhole >= BatchLedger.WholeEvery

  /** The batch of the last entry. */
  def last: Option[Long] = revisions.lastOption.map(_._1)

  /** How long all entries are together. */
  def bytes: Long = sizes.valuesIterator.sum

  def length: Int = revisions.size

  /** Forgets what a run left that never planned a batch. */
  def begin(): Unit = revisions.keys.foreach(drop)

  /** The entries to restore, in order, the first one whole; later ones go.
    *
    * @param below
    *   the batch that will run next
    */
  def restore(below: Long): Seq[LedgerEntry] = {
    val entries = read(below)
    revisions.rangeFrom(below).keys.foreach(drop)
    sinceWhole = BatchLedger.WholeEvery
    entries
  }

  /** As `restore`, for whoever only looks. */
  def read(below: Long): Seq[LedgerEntry] = {
    val newest = revisions.rangeUntil(below).lastOption.map(_._1)
    if (!newest.contains(below - 1)) {
      val found = newest.fold("has no entry before that")(batch => s"ends at batch $batch")
      throw EventtideException("LEDGER_GAP", "root" -> root, "next" -> below, "found" -> found)
    }
    chain(entry(below - 1), Nil)
  }

  @scala.annotation.tailrec
  private def chain(entry: LedgerEntry, later: List[LedgerEntry]): Seq[LedgerEntry] =
    entry.after match {
      case None => entry :: later
      case Some(previous) => chain(this.entry(previous), entry :: later)
    }

  /** Writes an entry, which counts instead of one that there is of the same batch. */
  def write(entry: LedgerEntry): Unit = {
    val earlier = revisions.getOrElse(entry.batchId, SortedSet.empty[Int])
    val revision = earlier.lastOption.fold(0)(_ + 1)
    val name = BatchLedger.name(entry.batchId, revision)
    sizes += name -> files.write(name)(entry.write)
    earlier.foreach(old => delete(BatchLedger.name(entry.batchId, old)))
    revisions += entry.batchId -> SortedSet(revision)
    sinceWhole = if (entry.after.isEmpty) 1 else sinceWhole + 1
    purge()
  }

  // An entry is restored with up to nine before it.
  private def purge(): Unit =
    revisions.keys.dropRight(retain + BatchLedger.WholeEvery).foreach(drop)

  private def entry(batchId: Long): LedgerEntry =
    try {
      val revision = revisions.get(batchId).fold(0)(_.last)
      files.read(BatchLedger.name(batchId, revision))(LedgerEntry.read(batchId, _))
    } catch {
      case _: FileNotFoundException => unreadable(batchId, "it is missing")
      case _: EOFException => unreadable(batchId, "it ends too early")
      case _: LedgerEntry.Foreign => unreadable(batchId, "it is not one of Eventtide's")
    }

  private def unreadable(batchId: Long, reason: String): Nothing =
    throw EventtideException(
      "LEDGER_UNREADABLE",
      "batch" -> batchId,
      "root" -> root,
      "reason" -> reason
    )

  private def drop(batchId: Long): Unit = {
    revisions(batchId).foreach(revision => delete(BatchLedger.name(batchId, revision)))
    revisions -= batchId
  }

  private def delete(name: String): Unit = {
    files.delete(name)
    sizes -= name
  }
}

private[query] object BatchLedger {
  private val WholeEvery = 10

  private val Name = "(-?\\d+)(?:\\.(\\d+))?".r

  private def name(batchId: Long, revision: Int): String =
    if (revision == 0) batchId.toString else s"$batchId.$revision"

  private def revisionsOf(names: Seq[String]): SortedMap[Long, SortedSet[Int]] = {
    val found = names.collect { case Name(batch, revision) =>
      batch.toLong -> Option(revision).fold(0)(_.toInt)
    }
    SortedMap.from(found.groupMap(_._1)(_._2).view.mapValues(SortedSet.from(_)))
  }
}
