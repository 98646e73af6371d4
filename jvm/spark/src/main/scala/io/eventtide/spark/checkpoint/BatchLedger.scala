package io.eventtide.spark.checkpoint

import java.io.FileNotFoundException

import scala.collection.immutable.{SortedMap, SortedSet}

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.{ChecksumException, Path}

import io.eventtide.spark.EventtideException

/** The state of a query's policies after each batch: `<checkpoint>/eventtide/ledger/<batch id>`.
  *
  *   - '''Guarantee:''' an entry is written before Spark commits its batch, so it is there whenever
  *     the commit is; that of batch -1, what the query began with, before the first offset.
  *   - '''Revisions:''' a file is never written twice. A batch that is run again has a file of its
  *     own, `<batch id>.<revision>`, and so has an entry that is written once more; the highest
  *     counts. Lower ones go once Spark has committed their batch: until then another run may be
  *     about to commit it, and all revisions of a batch are equal in effect.
  *   - '''Restart:''' the entry before the batch to run, with those it builds on; without it the
  *     checkpoint is refused. A start deletes nothing.
  *   - An entry holds what changed, or is whole once as much has changed as the last whole one holds.
  *     So all together cost twice what changes, and at most three times what is whole is read. `retain`
  *     batches can be restored.
  */
private[spark] final class BatchLedger(root: Path, retain: Int, conf: Configuration) {
  private val files = new CheckpointFiles(new Path(root, "eventtide/ledger"), conf)
  private var sizes = Map.empty[String, Long]
  private var revisions = SortedMap.empty[Long, SortedSet[Int]]
  private var chain = EntryChain.Empty
  private var written = Option.empty[EntryName]
  look()

  /** Whether the next entry has to be whole. */
  def wantsWhole: Boolean = chain.isLong

  /** The last entry that this run has written, to build on. */
  def last: Option[EntryName] = written

  /** The last batch that has an entry. */
  def lastBatch: Option[Long] = revisions.lastOption.map(_._1)

  /** How long all entries are together. */
  def bytes: Long = sizes.valuesIterator.sum

  def length: Int = revisions.size

  /** Looks again: another run may have written. */
  def look(): Unit = {
    sizes = files.sizes.filter { case (name, _) => EntryName.parse(name).isDefined }
    val found = sizes.keys.toSeq.flatMap(EntryName.parse).groupMap(_.batchId)(_.revision)
    revisions = SortedMap.from(found.view.mapValues(SortedSet.from(_)))
  }

  /** The entries to restore, in order, the first one whole.
    *
    * @param below
    *   the batch that will run next
    */
  def restore(below: Long): Seq[LedgerEntry] = {
    look()
    chain = EntryChain.Empty
    read(below)
  }

  /** As `restore`, for whoever only looks. */
  def read(below: Long): Seq[LedgerEntry] = withEarlier(newest(below), Nil)

  /** The entry of a committed batch; it may build on others. */
  def entryOf(batchId: Long): LedgerEntry = newest(batchId + 1)

  private def newest(below: Long): LedgerEntry = {
    val found = revisions.rangeUntil(below).lastOption
    found.filter(_._1 == below - 1) match {
      case Some((batch, known)) => entry(EntryName(batch, known.last))
      case None =>
        val text = found.fold("has no entry before that")(last => s"ends at batch ${last._1}")
        throw EventtideException("LEDGER_GAP", "root" -> root, "next" -> below, "found" -> text)
    }
  }

  @scala.annotation.tailrec
  private def withEarlier(entry: LedgerEntry, later: List[LedgerEntry]): Seq[LedgerEntry] =
    entry.after match {
      case None => entry :: later
      case Some(previous) => withEarlier(this.entry(previous), entry :: later)
    }

  /** Writes an entry, which counts instead of those that there are of the same batch.
    *
    * @param isCommitted
    *   whether Spark has committed its batch, or there is none to commit
    */
  def write(entry: LedgerEntry, isCommitted: Boolean): Unit = {
    val earlier = revisions.getOrElse(entry.batchId, SortedSet.empty[Int])
    val name = EntryName(entry.batchId, earlier.lastOption.fold(0)(_ + 1))
    val size = files.write(name.text)(entry.write)
    sizes += name.text -> size
    chain = if (entry.after.isEmpty) EntryChain.begun(size) else chain.and(size)
    revisions += entry.batchId -> (earlier + name.revision)
    written = Some(name)
    removeLower(if (isCommitted) entry.batchId else entry.batchId - 1)
    removeOld(entry.batchId)
  }

  private def removeLower(lastCommitted: Long): Unit =
    for ((batch, known) <- revisions.rangeTo(lastCommitted) if known.size > 1)
      drop(batch, known.init)

  // An entry is restored with all those that it builds on.
  private def removeOld(last: Long): Unit = {
    val old = revisions.rangeTo(last).keys.toSeq.dropRight(retain + EntryChain.Most)
    old.foreach(batch => drop(batch, revisions(batch)))
  }

  private def entry(name: EntryName): LedgerEntry =
    try files.read(name.text)(in => LedgerEntry.read(name.batchId, in.readAllBytes()))
    catch {
      case _: FileNotFoundException => unreadable(name, "it is missing")
      case _: ChecksumException => unreadable(name, "the file system finds it damaged")
      case damaged: LedgerEntry.Damaged => unreadable(name, damaged.reason)
    }

  private def unreadable(name: EntryName, reason: String): Nothing =
    throw EventtideException(
      "LEDGER_UNREADABLE",
      "batch" -> name.batchId,
      "root" -> root,
      "reason" -> reason
    )

  private def drop(batchId: Long, gone: Iterable[Int]): Unit = {
    gone.foreach { revision =>
      val name = EntryName(batchId, revision).text
      files.delete(name)
      sizes -= name
    }
    val left = revisions(batchId) -- gone
    if (left.isEmpty) revisions -= batchId else revisions += batchId -> left
  }
}

/** A whole entry and those that build on it, by their lengths in bytes. */
private final case class EntryChain(length: Int, whole: Long, changed: Long) {

  def and(bytes: Long): EntryChain = copy(length = length + 1, changed = changed + bytes)

  /** Whether a whole one is due, so that what is read at a start stays in proportion. */
  def isLong: Boolean = changed >= whole || length >= EntryChain.Most
}

private object EntryChain {

  /** So many files are read at most. */
  val Most = 100

  val Empty: EntryChain = EntryChain(0, 0, 0)

  def begun(bytes: Long): EntryChain = EntryChain(1, bytes, 0)
}

/** Names a file of the ledger: how often its batch had been written before. */
private[checkpoint] final case class EntryName(batchId: Long, revision: Int) {
  def text: String = if (revision == 0) batchId.toString else s"$batchId.$revision"
}

private[checkpoint] object EntryName {
  private val Form = "(-1|\\d{1,18})(?:\\.([1-9]\\d{0,8}))?".r

  def parse(name: String): Option[EntryName] = name match {
    case Form(batch, revision) => Some(EntryName(batch.toLong, Option(revision).fold(0)(_.toInt)))
    case _ => None
  }
}
