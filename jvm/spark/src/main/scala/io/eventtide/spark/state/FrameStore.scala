package io.eventtide.spark.state

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{
  BoundReference,
  GenericInternalRow,
  JoinedRow,
  UnsafeProjection,
  UnsafeRow
}
import org.apache.spark.sql.execution.streaming.state.{
  StateStore,
  StateStoreIterator,
  UnsafeRowPair
}
import org.apache.spark.sql.types.StructType

import io.eventtide.kernel.StateVersion
import io.eventtide.kernel.window.{ByteSink, ByteSource, FrameArchive, FrameRing}

/** The state of one partition: rings, their blocks, and the index of what falls due.
  *
  * An entry of the index says from which end on a key owes results, at every boundary until its ring
  * is empty or has a gap. So a key that is always active has an entry that never moves.
  */
private[spark] final class FrameStore(store: StateStore, families: FrameFamilies, batchId: Long) {
  private val values = new ByteRow
  private val source = new ByteSource
  private var key: UnsafeRow = _
  private var nextId = batchId << 32

  /** What the indexes have for the present key: its id, and under which end and time it stands. */
  private var id = 0L
  private var due = FrameRing.Never
  private var deadline = FrameRing.Never

  /** The id of the present key; no other key ever has it. */
  def keyId: Long = id

  /** Turns to a key; true when it has state, which can then be read. */
  def open(key: UnsafeRow): Boolean = {
    this.key = key
    val value = store.get(key)
    if (value == null) begin() else resume(value)
    value != null
  }

  private def begin(): Unit = {
    id = nextId
    nextId += 1
    due = FrameRing.Never
    deadline = FrameRing.Never
  }

  private def resume(value: UnsafeRow): Unit = {
    ByteRow.open(value, source)
    StateVersion.check(source.getByte(), "a window", FrameStore.Version)
    id = source.getNumber()
    due = source.getNumber()
    deadline = FrameRing.Never - source.getCount()
  }

  /** Reads the present key's state. */
  def read(content: ByteSource => Unit): Unit = content(source)

  /** Saves the present key's state, with the end and the time at which it is next due. */
  def save(nextDue: Long, boundary: Long, nextDeadline: Long)(content: ByteSink => Unit): Unit = {
    // A key that owes a result at the very next boundary stays where it is.
    val stays = due < nextDue && nextDue == boundary + 1
    if (!stays) due = moved(FrameFamilies.Due, due, nextDue)
    deadline = moved(FrameFamilies.Deadline, deadline, nextDeadline)
    val out = values.begin()
    out.putByte(FrameStore.Version)
    out.putNumber(id)
    out.putNumber(due)
    out.putCount(FrameRing.Never - deadline)
    content(out)
    store.put(key, values.end())
  }

  /** Forgets the present key. */
  def drop(): Unit = {
    moved(FrameFamilies.Due, due, FrameRing.Never): Unit
    moved(FrameFamilies.Deadline, deadline, FrameRing.Never): Unit
    store.remove(key)
  }

  private def moved(index: String, from: Long, to: Long): Long = {
    if (from != to) {
      if (from != FrameRing.Never) store.remove(indexKey(from, key), index)
      if (to != FrameRing.Never) store.put(indexKey(to, key), idRow(id), index)
    }
    to
  }

  /** The index by the end of windows, as it is now. */
  def dueEntries: StateStoreIterator[UnsafeRowPair] = store.iterator(FrameFamilies.Due)

  /** The index by the clock, as it is now. */
  def deadlines: StateStoreIterator[UnsafeRowPair] = store.iterator(FrameFamilies.Deadline)

  /** The first end at which any key owes a result, after all that was due at `boundary` was given. */
  def earliestDue(boundary: Long): Long = {
    val first = firstOf(dueEntries)
    if (first == FrameRing.Never) first else math.max(first, boundary + 1)
  }

  def earliestDeadline: Long = firstOf(deadlines)

  private def firstOf(entries: StateStoreIterator[UnsafeRowPair]): Long =
    try if (entries.hasNext) entries.next().key.getLong(0) else FrameRing.Never
    finally entries.close()

  private val number = new GenericInternalRow(1)
  private val joined = new JoinedRow
  private val idOf = UnsafeProjection.create(StructType(families.indexKeys.fields.take(1)))
  private val indexKeyOf = UnsafeProjection.create(families.indexKeys)
  private val blockKeyOf = UnsafeProjection.create(families.blockKeys)

  private val keyOf = UnsafeProjection.create(
    families.keys.fields.toSeq.zipWithIndex.map { case (field, i) =>
      BoundReference(i + 1, field.dataType, field.nullable)
    }
  )

  /** The key of an entry of the index, good until the next one is asked for. */
  def keyOfEntry(entry: UnsafeRow): UnsafeRow = keyOf(entry)

  private def idRow(id: Long): UnsafeRow = idOf(numbered(id))

  private def indexKey(at: Long, key: UnsafeRow): UnsafeRow = indexKeyOf(joined(numbered(at), key))

  private def blockKey(block: Long): UnsafeRow = blockKeyOf(joined(key, numbered(block)))

  private def numbered(value: Long): InternalRow = {
    number.setLong(0, value)
    number
  }

  /** The blocks of the present key's ring. */
  val blocks: FrameArchive = new Blocks(FrameFamilies.Blocks)

  /** The blocks of its frames that have closed, and may change. */
  val history: FrameArchive = new Blocks(FrameFamilies.History)

  private final class Blocks(family: String) extends FrameArchive {
    private val values = new ByteRow

    def sink(): ByteSink = values.begin()

    def write(block: Long, content: ByteSink): Unit =
      store.put(blockKey(block), values.end(), family)

    def read(block: Long): ByteSource = {
      val source = new ByteSource
      ByteRow.open(store.get(blockKey(block), family), source)
      source
    }

    def remove(block: Long): Unit = store.remove(blockKey(block), family)
  }
}

private object FrameStore {

  /** Raised with every change of the format; see "State format" in CHANGELOG.md. */
  private val Version = 1
}
