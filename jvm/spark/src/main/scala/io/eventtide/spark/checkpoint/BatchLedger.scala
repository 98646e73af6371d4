package io.eventtide.spark.checkpoint

import java.io.FileNotFoundException

import scala.collection.immutable.{SortedMap, SortedSet, VectorMap}
import scala.util.control.NonFatal
import scala.util.{Failure, Try}

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.{ChecksumException, Path}

import io.eventtide.kernel.watermark.PolicyFailure
import io.eventtide.spark.EventtideException

/** The state of a query's policies after each batch: `<checkpoint>/eventtide/ledger/<batch id>`.
  *
  *   - '''Guarantee:''' an entry is written before Spark commits its batch, so a committed batch
  *     always has an entry. The entry of batch -1 is the query's initial state, written before the
  *     first offset.
  *   - '''Revisions:''' a file is never overwritten. A replayed batch, or an entry that is
  *     rewritten, has a new file `<batch id>.<revision>`, and the highest revision counts. Lower
  *     revisions are deleted once Spark has committed their batch. Until then another run may be
  *     about to commit it, and all revisions of a batch are equivalent.
  *   - '''Restart:''' reads the entry before the batch to run, and the entries it builds on.
  *     Without it the checkpoint is refused. A start deletes nothing.
  *   - An entry holds the changes since the previous entry. It is full once the changes since the
  *     last full entry are as large as that entry. So all entries together are at most about twice
  *     the size of the changes. A restore reads at most three times the size of a full entry.
  *     `retain` batches can be restored.
  */
private[spark] final class BatchLedger(root: Path, retain: Int, conf: Configuration) {
  private val files = new CheckpointFiles(new Path(root, "eventtide/ledger"), conf)
  private var sizes = Map.empty[String, Long]
  private var revisions = SortedMap.empty[Long, SortedSet[Int]]
  private var chain = EntryChain.Empty
  private var written = Option.empty[EntryName]
  refresh()

  /** Whether the next entry must be a full one. */
  def wantsWhole: Boolean = chain.isLong

  /** The last entry that this run has written; the next one may build on it. */
  def last: Option[EntryName] = written

  /** The last batch that has an entry. */
  def lastBatch: Option[Long] = revisions.lastOption.map(_._1)

  /** The total size of all entries, in bytes. */
  def bytes: Long = sizes.valuesIterator.sum

  def length: Int = revisions.size

  /** Lists the files again, because another run may have written some. */
  def refresh(): Unit = {
    sizes = files.sizes.filter { case (name, _) => EntryName.parse(name).isDefined }
    val found = sizes.keys.toSeq.flatMap(EntryName.parse).groupMap(_.batchId)(_.revision)
    revisions = SortedMap.from(found.view.mapValues(SortedSet.from(_)))
  }

  /** The entries to restore, in order; the first one is a full entry.
    *
    * @param below
    *   the batch that will run next
    */
  def restore(below: Long): Seq[LedgerEntry] = {
    refresh()
    chain = EntryChain.Empty
    read(below)
  }

  /** As `restore`, for read-only use: it does not list the files again. */
  def read(below: Long): Seq[LedgerEntry] = withEarlier(newest(below), Nil)

  /** For each batch up to `last` whose state can be restored, the entries to restore, in order. */
  def chains(last: Long): Seq[Seq[LedgerEntry]] = {
    val names =
      revisions.rangeTo(last).iterator.map { case (id, known) => EntryName(id, known.last) }
    val found = names.foldLeft(VectorMap.empty[EntryName, Vector[LedgerEntry]]) { (chains, name) =>
      val entry = this.entry(name)
      val earlier = entry.after.fold(Option(Vector.empty[LedgerEntry]))(chains.get)
      earlier.fold(chains)(of => chains + (name -> (of :+ entry)))
    }
    found.values.toSeq
  }

  /** As `BatchLedger.decode`, for entries of this ledger. */
  def decode[A](entries: Seq[LedgerEntry])(content: => A): A =
    BatchLedger.decode(root, entries)(content)

  /** The entry of a committed batch; it may build on earlier entries. */
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

  /** Writes an entry, which replaces the existing entries of the same batch.
    *
    * @param isCommitted
    *   whether Spark has committed the entry's batch, or there is no batch to commit
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

  // Keeps the entries that a retained entry may build on.
  private def removeOld(last: Long): Unit = {
    val old = revisions.rangeTo(last).keys.toSeq.dropRight(retain + EntryChain.Most)
    old.foreach(batch => drop(batch, revisions(batch)))
  }

  private def entry(name: EntryName): LedgerEntry =
    try {
      val entry = files.read(name.text)(in => LedgerEntry.read(name.batchId, in.readAllBytes()))
      if (entry.after.exists(!_.isBefore(name)))
        throw new LedgerEntry.Damaged("it builds on itself or on a later entry")
      entry
    } catch {
      case _: FileNotFoundException => unreadable(name, "it is missing")
      case _: ChecksumException => unreadable(name, "the file system reports a checksum error")
      case damaged: LedgerEntry.Damaged => unreadable(name, damaged.reason)
    }

  private def unreadable(name: EntryName, reason: String): Nothing =
    BatchLedger.unreadable(root, name.batchId, reason)

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

private[spark] object BatchLedger {
  private val Attempts = 3

  /** Reads a ledger, which the query may be writing: it may replace the entries meanwhile. */
  def reading[A](root: Path, conf: Configuration)(read: BatchLedger => A): A =
    attempt(Attempts)(read(new BatchLedger(root, retain = 0, conf)))

  /** Reads the content of entries, which their checksum does not prove to be valid.
    *
    * @throws EventtideException
    *   LEDGER_UNREADABLE if it is not
    */
  def decode[A](root: Path, entries: Seq[LedgerEntry])(content: => A): A =
    try content
    catch {
      case known @ (_: EventtideException | _: PolicyFailure) => throw known
      case NonFatal(_) =>
        unreadable(root, entries.last.batchId, "a part of its content is invalid")
    }

  private def unreadable(root: Path, batchId: Long, reason: String): Nothing =
    throw EventtideException(
      "LEDGER_UNREADABLE",
      "batch" -> batchId,
      "root" -> root,
      "reason" -> reason
    )

  @scala.annotation.tailrec
  private def attempt[A](left: Int)(read: => A): A = Try(read) match {
    case Failure(_: EventtideException) if left > 1 => attempt(left - 1)(read)
    case answer => answer.get
  }
}

/** The sizes in bytes of a full entry and of the entries that build on it. */
private final case class EntryChain(length: Int, whole: Long, changed: Long) {

  def and(bytes: Long): EntryChain = copy(length = length + 1, changed = changed + bytes)

  /** Whether the next entry must be full, which bounds the amount that a start reads. */
  def isLong: Boolean = changed >= whole || length >= EntryChain.Most
}

private object EntryChain {

  /** The maximum number of files that a restore reads. */
  val Most = 100

  val Empty: EntryChain = EntryChain(0, 0, 0)

  def begun(bytes: Long): EntryChain = EntryChain(1, bytes, 0)
}

/** The name of a ledger file. `revision` counts the entries written before for the same batch. */
private[checkpoint] final case class EntryName(batchId: Long, revision: Int) {
  def text: String = if (revision == 0) batchId.toString else s"$batchId.$revision"

  def isBefore(other: EntryName): Boolean =
    batchId < other.batchId || batchId == other.batchId && revision < other.revision
}

private[checkpoint] object EntryName {
  private val Form = "(-1|\\d{1,18})(?:\\.([1-9]\\d{0,8}))?".r

  def parse(name: String): Option[EntryName] = name match {
    case Form(batch, revision) =>
      Some(EntryName(batch.toLong, Option(revision).fold(0)(_.toInt))).filter(_.text == name)
    case _ => None
  }
}
