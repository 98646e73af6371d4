package io.eventtide.spark.state

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{
  BoundReference,
  GenericInternalRow,
  JoinedRow,
  SpecificInternalRow,
  UnsafeProjection,
  UnsafeRow
}
import org.apache.spark.sql.execution.streaming.state.{
  StateStore,
  StateStoreIterator,
  UnsafeRowPair
}
import org.apache.spark.sql.types.{LongType, StructType}

import io.eventtide.kernel.window.FrameRing

/** The keys of one partition in the order of a number: the end, or the time, at which they are due.
  *
  * What falls due leaves at the front, and a store steps over what has left until it is compacted. So
  * no scan begins before the first entry that is known to be there.
  *
  * @param first
  *   where no entry is before when this is made; None if nothing is known
  */
private[spark] final class DueIndex(
    store: StateStore,
    families: FrameFamilies,
    family: String,
    first: Option[Long]
) {
  private var lowest = first.getOrElse(Long.MinValue)

  private val number = new SpecificInternalRow(Seq(LongType))
  private val joined = new JoinedRow
  private val nobody = new GenericInternalRow(families.keys.length)
  private val idOf = UnsafeProjection.create(StructType(families.indexKeys.fields.take(1)))
  private val entryOf = UnsafeProjection.create(families.indexKeys)

  private val keyColumns = UnsafeProjection.create(
    families.keys.fields.toSeq.zipWithIndex.map { case (field, i) =>
      BoundReference(i + 1, field.dataType, field.nullable)
    }
  )

  /** Moves a key from one number to another, `FrameRing.Never` for none; answers the new one. */
  def move(key: UnsafeRow, id: Long, from: Long, to: Long): Long = {
    if (from != to) {
      if (from != FrameRing.Never) store.remove(entry(from, key), family)
      if (to != FrameRing.Never) put(key, id, to)
    }
    to
  }

  private def put(key: UnsafeRow, id: Long, at: Long): Unit = {
    number.setLong(0, id)
    val value = idOf(number)
    store.put(entry(at, key), value, family)
    lowest = math.min(lowest, at)
  }

  private def entry(at: Long, key: InternalRow): UnsafeRow = {
    number.setLong(0, at)
    entryOf(joined(number, key))
  }

  /** All entries, in order, as they are now. */
  def entries: StateStoreIterator[UnsafeRowPair] = {
    val start = Option.when(lowest != Long.MinValue)(entry(lowest - 1, nobody))
    store.rangeScan(start, None, family)
  }

  /** The key of an entry, good until the next one is asked for. */
  def keyOf(entry: UnsafeRow): UnsafeRow = keyColumns(entry)

  /** The number of the first entry; `FrameRing.Never` if there is none. */
  def head: Long = {
    val all = entries
    try if (all.hasNext) all.next().key.getLong(0) else FrameRing.Never
    finally all.close()
  }
}
