package io.eventtide.spark.state

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{
  BoundReference,
  GenericInternalRow,
  JoinedRow,
  SpecificInternalRow,
  UnsafeRow
}
import org.apache.spark.sql.eventtide.{SparkShims, TaskScans}
import org.apache.spark.sql.execution.streaming.state.{
  StateStore,
  StateStoreIterator,
  UnsafeRowPair
}
import org.apache.spark.sql.types.LongType

import io.eventtide.kernel.window.FrameWindowState

/** The keys of one partition in the order of a number: the window end or the time of their timers.
  *
  * Fired timers are removed at the front, and until a store is compacted, a scan steps over deleted
  * entries. So no scan begins before the first entry that is known to exist.
  *
  * With groups of keys, the index covers one group at a time.
  *
  * @param first
  *   a lower bound of all entries when the index is opened; None if it is not known
  * @param scans
  *   the scans of the task, in real-time mode
  */
private[spark] final class TimerIndex(
    store: StateStore,
    layout: IndexLayout,
    first: Option[Long],
    scans: Option[TaskScans]
) {
  import layout.{family, numbers}

  private var least = first.getOrElse(Long.MinValue)
  private var groupId = 0L

  private val leading = new SpecificInternalRow(Seq.fill(numbers)(LongType))
  private val number = new SpecificInternalRow(Seq(LongType))
  private val joined = new JoinedRow
  private val noKey = new GenericInternalRow(layout.keys.length)
  private val idOf = Projections.columns(layout.ids)
  private val entryOf = Projections.columns(layout.entries)

  private val keyColumns = Projections.unsafe(
    layout.keys.fields.toSeq.zipWithIndex.map { case (field, i) =>
      BoundReference(numbers + i, field.dataType, field.nullable)
    }
  )

  /** The selected group. */
  def group: Long = groupId

  /** Selects the entries of a group, which are all at `first` or later. */
  def select(group: Long, first: Long): Unit = {
    groupId = group
    least = first
  }

  /** The lower bound of all entries. */
  def lowest: Long = least

  /** Raises the lower bound of all entries. */
  def beginAt(first: Long): Unit = least = math.max(least, first)

  /** Raises the lower bound to the first entry, which is read. */
  def beginAtHead(): Unit = beginAt(head)

  /** Moves a key from one number to another, `FrameWindowState.Never` for none; returns the new
    * number.
    */
  def move(key: UnsafeRow, id: Long, from: Long, to: Long): Long = {
    if (from != to) {
      if (from != FrameWindowState.Never) store.remove(entry(from, key), family)
      if (to != FrameWindowState.Never) put(key, id, to)
    }
    to
  }

  private def put(key: UnsafeRow, id: Long, at: Long): Unit = {
    number.setLong(0, id)
    val value = idOf(number)
    store.put(entry(at, key), value, family)
    least = math.min(least, at)
  }

  private def entry(at: Long, key: InternalRow): UnsafeRow = {
    if (numbers > 1) leading.setLong(0, groupId)
    leading.setLong(numbers - 1, at)
    entryOf(joined(leading, key))
  }

  /** A snapshot of all entries, in order; the entries of a group are followed by the entries of
    * other groups.
    */
  def entries: StateStoreIterator[UnsafeRowPair] = {
    val start = Option.when(least != Long.MinValue)(entry(least - 1, noKey))
    def scan = SparkShims.entriesFrom(store, start, numbers, family)
    scans.fold(scan)(_.open(scan))
  }

  /** The number of an entry; `FrameWindowState.Never` if it belongs to another group. */
  def numberOf(entry: UnsafeRow): Long =
    if (numbers > 1 && entry.getLong(0) != groupId) FrameWindowState.Never
    else entry.getLong(numbers - 1)

  /** The key of an entry, valid until the next call. */
  def keyOf(entry: UnsafeRow): UnsafeRow = keyColumns(entry)

  /** The number of the first entry; `FrameWindowState.Never` if there is none. */
  def head: Long = {
    val all = entries
    try if (all.hasNext) numberOf(all.next().key) else FrameWindowState.Never
    finally all.close()
  }
}
