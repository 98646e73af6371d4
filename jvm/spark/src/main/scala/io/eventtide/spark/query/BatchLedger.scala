package io.eventtide.spark.query

import java.io.{DataInputStream, DataOutputStream}

import scala.collection.immutable.SortedSet

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.Path
import org.apache.spark.sql.execution.streaming.checkpointing.CheckpointFileManager

/** The state of a query's policies after each batch: `<checkpoint>/eventtide/ledger/<batch id>`.
  *
  *   - '''Guarantee:''' an entry is written before Spark commits its batch, so it is there whenever
  *     the commit is. A batch that is run again starts from the entry before it and overwrites its
  *     own.
  *   - '''Restart:''' the newest entry below the batch to run, with the entries it builds on. What
  *     lies above was written by a batch that was never committed, and goes.
  *   - Every tenth entry is whole, the others hold what changed; `retain` batches can be restored.
  *
  * Files go through Spark's checkpoint file manager: whole or not at all, on any file system.
  */
private[query] final class BatchLedger(root: Path, retain: Int, conf: Configuration) {
  private val folder = new Path(root, "eventtide/ledger")
  private val files = CheckpointFileManager.create(folder, conf)
  private var ids: SortedSet[Long] = list()
  private var sinceWhole = BatchLedger.WholeEvery

  def isEmpty: Boolean = ids.isEmpty

  /** Whether the next entry has to be whole. */
  def wantsWhole: Boolean = sinceWhole >= BatchLedger.WholeEvery

  /** The entries to restore, in order, the first one whole; Nil when there is none.
    *
    * @param below
    *   the batch that will run next
    */
  def restore(below: Long): Seq[LedgerEntry] = {
    ids.rangeFrom(below).foreach(drop)
    sinceWhole = BatchLedger.WholeEvery
    ids.lastOption.fold(Seq.empty[LedgerEntry])(last => chain(read(last), Nil))
  }

  @scala.annotation.tailrec
  private def chain(entry: LedgerEntry, later: List[LedgerEntry]): Seq[LedgerEntry] =
    entry.after match {
      case None => entry :: later
      case Some(previous) => chain(read(previous), entry :: later)
    }

  def last: Option[Long] = ids.lastOption

  def write(entry: LedgerEntry): Unit = {
    if (ids.isEmpty) files.mkdirs(folder)
    val out = files.createAtomic(path(entry.batchId), overwriteIfPossible = true)
    try {
      val data = new DataOutputStream(out)
      entry.write(data)
      data.flush()
      out.close()
    } catch {
      case failure: Throwable =>
        out.cancel()
        throw failure
    }
    ids += entry.batchId
    sinceWhole = if (entry.after.isEmpty) 1 else sinceWhole + 1
    purge()
  }

  // An entry is restored with up to nine before it.
  private def purge(): Unit = ids.dropRight(retain + BatchLedger.WholeEvery).foreach(drop)

  private def read(batchId: Long): LedgerEntry = {
    val in = files.open(path(batchId))
    try LedgerEntry.read(batchId, new DataInputStream(in))
    finally in.close()
  }

  private def drop(batchId: Long): Unit = {
    files.delete(path(batchId))
    ids -= batchId
  }

  private def path(batchId: Long): Path = new Path(folder, batchId.toString)

  private def list(): SortedSet[Long] =
    if (!files.exists(folder)) SortedSet.empty
    else SortedSet.from(files.list(folder).flatMap(_.getPath.getName.toLongOption))
}

private[query] object BatchLedger {
  private val WholeEvery = 10
}
