package io.eventtide.spark.state

import org.apache.spark.sql.catalyst.expressions.UnsafeRow
import org.apache.spark.sql.eventtide.TaskScans
import org.apache.spark.sql.execution.streaming.state.{
  StateStore,
  StateStoreIterator,
  UnsafeRowPair
}

import io.eventtide.kernel.window.{BlockStore, ByteSink, ByteSource, FrameWindowState}
import io.eventtide.spark.EventtideException

/** The state of one partition: the window state of each key, its blocks, and the timer indexes.
  *
  * An entry of the index by end holds the first end with a timer of a key. The timer fires at every
  * boundary from there on, until the key's window state is empty or has a gap. So the entry of a
  * key that is always active never moves.
  *
  * An entry of the index by processing time may hold an earlier timer of its key. It moves to a
  * later time once the earlier one has passed. So the entry of a key that is always active moves
  * once per timeout. The current timers are counted separately from the index. Timers that are
  * watermarks are indexed in the same way, because each row may delay them.
  *
  * A key need not be saved after its windows have closed: windows up to `closed` are skipped when
  * it is read.
  *
  * The fields `byEnd` and `byClock` index keys by the end, and by the processing time, of their
  * next timer. `groups` indexes the keys of a group by end; the group must be opened first.
  *
  * @param now
  *   the time by the query's clock, in microseconds
  * @param timingOptions
  *   the options that determine per-key watermarks and idleness
  * @param cachedBytes
  *   how much state of keys is kept in memory until the end of the batch; 0 for none
  * @param scans
  *   the scans of the task, in real-time mode
  */
private[spark] final class FrameStore(
    store: StateStore,
    families: WindowStateLayout,
    batchId: Long,
    now: () => Long,
    timingOptions: String = "",
    cachedBytes: Long = 0,
    scans: Option[TaskScans] = None
) {
  families.create(store)
  private val meta = new PartitionMetaStore(store, families)
  private val before = meta.read() // the partition's metadata after the previous batch
  private val records = KeyRecords(store, families, before, cachedBytes)

  val byEnd = new TimerIndex(store, families.eventTimers, before.map(_.byEnd), scans)
  val byClock = new TimerIndex(store, families.processingTimers, before.map(_.byClock), scans)
  val groups: Option[WatermarkGroupStore] =
    families.groups.map(_ => new WatermarkGroupStore(store, families, batchId, scans))

  private val processingTimer =
    new KeyTimer(byClock, before.fold(new TimerHistogram)(_.processingTimers))
  private val eventTimer = new KeyTimer(byEnd, before.fold(new TimerHistogram)(_.eventTimers))
  private var keys = before.fold(0L)(_.keys)
  private val keyBlocks = new KeyBlocks(store, families)
  private val values = new BinaryRow
  private val source = new ByteSource
  private lazy val ids = new RecordIds
  private var key: UnsafeRow = _
  private var stored = false // whether the current key has state
  private var nextId = batchId << 32

  /** The current key's id and entries in the indexes: `endTimer` is its timer if timers are
    * window ends.
    */
  private var id = 0L
  private var endTimer = FrameWindowState.Never
  private var groupTimer = FrameWindowState.Never

  /** The state partition id. */
  def partition: Int = store.id.partitionId

  /** The id of the current key; ids are never reused. */
  def keyId: Long = id

  /** The limit up to which timers had fired before this batch: a watermark or a boundary. */
  val closed: Long = before.fold(Long.MinValue)(_.closed)

  /** The highest per-key watermark so far; `Long.MinValue` for none. */
  val watermark: Long = before.fold(Long.MinValue)(_.watermark)

  /** Whether the timing options have changed since the keys' timers were set. */
  val timingChanged: Boolean = before.exists(_.timingOptions != timingOptions)

  /** The number of keys with state. */
  def keyCount: Long = keys

  /** Opens a key; true if it has state, which can then be read. */
  def open(key: UnsafeRow): Boolean = {
    this.key = key
    keyBlocks.open(key)
    val value = records.get(key)
    stored = value != null
    if (stored) resume(value) else begin()
    stored
  }

  private def begin(): Unit = {
    id = nextId
    nextId += 1
    endTimer = FrameWindowState.Never
    eventTimer.begin()
    processingTimer.begin()
    groupTimer = FrameWindowState.Never
  }

  private def resume(value: UnsafeRow): Unit = {
    BinaryRow.open(value, source)
    FrameStore.checkVersion(source.getByte())
    id = source.getNumber()
    if (families.hasFrameTimers) endTimer = source.getNumber() else eventTimer.read(source)
    processingTimer.read(source)
    if (groups.isDefined) groupTimer = source.getNumber()
  }

  /** Reads the current key's state. */
  def read(content: ByteSource => Unit): Unit = content(source)

  /** Whether the current key need not be saved: its index entry fits the next timer, and its blocks
    * are unchanged.
    */
  def canSkipWrite(nextEventTimer: Long, boundary: Long): Boolean =
    stored && !keyBlocks.hasChanged && keepsEntry(nextEventTimer, boundary)

  /** A key with a timer at the very next boundary keeps its index entry. */
  private def keepsEntry(nextEventTimer: Long, boundary: Long) =
    endTimer < nextEventTimer && nextEventTimer == boundary + 1

  /** Saves the current key's state with its next timers: by end, by processing time, and by end for
    * the watermark of its group.
    */
  def save(
      nextEventTimer: Long,
      boundary: Long,
      nextProcessingTimer: Long,
      nextGroupTimer: Long = FrameWindowState.Never
  )(content: ByteSink => Unit): Unit = {
    if (!families.hasFrameTimers) eventTimer.move(key, id, nextEventTimer, boundary)
    else if (!keepsEntry(nextEventTimer, boundary))
      endTimer = byEnd.move(key, id, endTimer, nextEventTimer)
    processingTimer.move(key, id, nextProcessingTimer, now())
    groups.foreach(moveGroupTimer(_, nextGroupTimer))
    put(content)
    if (!stored) count(1)
    stored = true
  }

  private def put(content: ByteSink => Unit): Unit = {
    val out = values.begin()
    out.putByte(FrameStore.Version)
    out.putNumber(id)
    if (families.hasFrameTimers) out.putNumber(endTimer) else eventTimer.write(out)
    processingTimer.write(out)
    if (groups.isDefined) out.putNumber(groupTimer)
    content(out)
    records.put(key, values.end())
  }

  /** Rewrites the state of all keys without a change of their timers, and then all blocks. */
  def rewriteAll(
      content: (ByteSource, ByteSink) => Unit,
      block: (ByteSource, ByteSink) => Unit
  ): Unit = {
    foreach(allKeys) { one =>
      open(one.key.copy()): Unit
      put(content(source, _))
    }
    for (family <- Seq(WindowStateLayout.Blocks, WindowStateLayout.History))
      foreach(store.iterator(family)) { one =>
        val out = values.begin()
        BinaryRow.open(one.value, source)
        block(source, out)
        store.put(one.key, values.end(), family)
      }
  }

  private def foreach(rows: StateStoreIterator[UnsafeRowPair])(use: UnsafeRowPair => Unit): Unit =
    try rows.foreach(use)
    finally rows.close()

  /** Adds a key that another partition has saved. A group of keys comes before its keys. */
  def adopt(key: UnsafeRow, saved: UnsafeRow): Unit = {
    this.key = key
    groups.filterNot(_.hasKey(key)).foreach(_.openOf(key))
    resume(saved)
    id = nextId
    nextId += 1
    if (families.hasFrameTimers) byEnd.move(key, id, FrameWindowState.Never, endTimer): Unit
    else eventTimer.adopt(key, id)
    processingTimer.adopt(key, id)
    groups.foreach(_.index.move(key, id, FrameWindowState.Never, groupTimer))
    records.put(key, ids.replace(saved, id))
    count(1)
  }

  private def moveGroupTimer(group: WatermarkGroupStore, next: Long): Unit =
    groupTimer = group.index.move(key, id, groupTimer, next)

  private def count(more: Int): Unit = {
    keys += more
    groups.foreach(_.addKeys(more))
  }

  /** Removes the current key; true if it had state. */
  def drop(): Boolean = {
    val had = stored
    if (had) {
      if (families.hasFrameTimers) byEnd.move(key, id, endTimer, FrameWindowState.Never): Unit
      else eventTimer.remove(key, id)
      processingTimer.remove(key, id)
      groups.foreach(moveGroupTimer(_, FrameWindowState.Never))
      records.remove(key)
      count(-1)
    }
    stored = false
    had
  }

  /** Saves and returns the metadata of the partition.
    *
    * @param closing
    *   the boundary up to which windows have been emitted in this batch or before
    * @param highest
    *   the new value of `watermark`
    */
  def finish(closing: Long, highest: Long): PartitionMeta = {
    records.flush()
    val now = metadata(closing, highest)
    meta.write(now)
    now
  }

  /** The metadata of the partition so far. */
  def metadata(closing: Long, highest: Long): PartitionMeta = PartitionMeta(
    keys,
    byEnd.head,
    byClock.head,
    math.max(closed, closing),
    highest,
    timingOptions,
    eventTimer.counts,
    processingTimer.counts,
    records.pageBits
  )

  /** A snapshot of all keys with state. */
  def allKeys: StateStoreIterator[UnsafeRowPair] = records.all

  // State in a format before 6 has keys, but no metadata under this name.
  private def checkKeys(): Unit = {
    val all = store.iterator()
    try if (all.hasNext) idOf(all.next().value): Unit
    finally all.close()
  }

  /** The id of a key with this state. */
  def idOf(value: UnsafeRow): Long = {
    BinaryRow.open(value, source)
    FrameStore.checkVersion(source.getByte())
    source.getNumber()
  }

  /** The blocks of the current key's window state. */
  val blocks: BlockStore = keyBlocks.in(WindowStateLayout.Blocks)

  /** The blocks of the current key's closed frames that may still change. For windows that retain
    * rows, the blocks of rows that wait for the watermark.
    */
  val history: BlockStore = keyBlocks.in(WindowStateLayout.History)

  if (before.isEmpty) checkKeys()
}

private[spark] object FrameStore {

  /** Raised with every change of the format; see "State format" in CHANGELOG.md. */
  val Version = 8

  /** Refuses state in an unknown format. */
  private[state] def checkVersion(found: Int): Unit =
    if (found != Version)
      throw EventtideException("STATE_VERSION", "found" -> found, "known" -> Version)
}
