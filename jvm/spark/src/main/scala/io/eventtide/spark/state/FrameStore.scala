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
private[spark] final class FrameStore(store: StateStore, families: FrameFamilies, batchId: Long)
    extends FrameArchive {
  private val values = new ByteRow
  private val source = new ByteSource
  private var key: UnsafeRow = _
  private var nextId = batchId << 32

  /** What the index has for the present key: its id, and the end under which it stands. */
  private var id = 0L
  private var indexed = FrameRing.Never

  /** The id of the present key; no other key ever has it. */
  def keyId: Long = id

  /** Turns to a key; true when it has a ring, which `source` then reads. */
  def open(key: UnsafeRow): Boolean = {
    this.key = key
    val value = store.get(key)
    if (value == null) begin() else resume(value)
    value != null
  }

  private def begin(): Unit = {
    id = nextId
    nextId += 1
    indexed = FrameRing.Never
  }

  private def resume(value: UnsafeRow): Unit = {
    ByteRow.open(value, source)
    StateVersion.check(source.getByte(), "a window", FrameStore.Version)
    id = source.getNumber()
    indexed = source.getNumber()
  }

  def load(ring: FrameRing): Unit = ring.read(source)

  /** Saves the present key's ring, which next gives a result at `due` or later. */
  def save(ring: FrameRing, boundary: Long): Unit = {
    index(ring.due, boundary)
    val out = values.begin()
    out.putByte(FrameStore.Version)
    out.putNumber(id)
    out.putNumber(indexed)
    ring.write(out)
    store.put(key, values.end())
  }

  /** Forgets the present key. */
  def drop(): Unit = {
    index(FrameRing.Never, FrameRing.Never)
    store.remove(key)
  }

  // A key that owes a result at the very next boundary stays where it is.
  private def index(due: Long, boundary: Long): Unit = {
    val stays = indexed <= due && (indexed == due || due == boundary + 1) && due != FrameRing.Never
    if (!stays) {
      if (indexed != FrameRing.Never) store.remove(dueKey(indexed, key), FrameFamilies.Due)
      if (due != FrameRing.Never) store.put(dueKey(due, key), idRow(id), FrameFamilies.Due)
      indexed = due
    }
  }

  /** Every entry of the index, by due end, as it is now. */
  def entries: StateStoreIterator[UnsafeRowPair] = store.iterator(FrameFamilies.Due)

  /** The first end at which any key owes a result, after all that was due at `boundary` was given. */
  def earliestDue(boundary: Long): Long = {
    val ordered = entries
    try
      if (ordered.hasNext) math.max(ordered.next().key.getLong(0), boundary + 1)
      else FrameRing.Never
    finally ordered.close()
  }

  private val number = new GenericInternalRow(1)
  private val joined = new JoinedRow
  private val idOf = UnsafeProjection.create(StructType(families.dueKeys.fields.take(1)))
  private val dueKeyOf = UnsafeProjection.create(families.dueKeys)
  private val blockKeyOf = UnsafeProjection.create(families.blockKeys)

  private val keyOf = UnsafeProjection.create(
    families.keys.fields.toSeq.zipWithIndex.map { case (field, i) =>
      BoundReference(i + 1, field.dataType, field.nullable)
    }
  )

  /** The key of an entry of the index, good until the next one is asked for. */
  def keyOfEntry(entry: UnsafeRow): UnsafeRow = keyOf(entry)

  private def idRow(id: Long): UnsafeRow = idOf(numbered(id))

  private def dueKey(due: Long, key: UnsafeRow): UnsafeRow = dueKeyOf(joined(numbered(due), key))

  private def blockKey(block: Long): UnsafeRow = blockKeyOf(joined(key, numbered(block)))

  private def numbered(value: Long): InternalRow = {
    number.setLong(0, value)
    number
  }

  private val blockValues = new ByteRow

  def sink(): ByteSink = blockValues.begin()

  def write(block: Long, content: ByteSink): Unit =
    store.put(blockKey(block), blockValues.end(), FrameFamilies.Blocks)

  def read(block: Long): ByteSource = {
    val source = new ByteSource
    ByteRow.open(store.get(blockKey(block), FrameFamilies.Blocks), source)
    source
  }

  def remove(block: Long): Unit = store.remove(blockKey(block), FrameFamilies.Blocks)
}

private object FrameStore {

  /** Raised with every change of the format; see "State format" in CHANGELOG.md. */
  private val Version = 1
}
