package io.eventtide.spark.state

import org.apache.spark.sql.catalyst.expressions.{
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
import org.apache.spark.sql.types.LongType

import io.eventtide.kernel.window.{BlockStore, ByteSink, ByteSource, FrameWindowState}
import io.eventtide.spark.EventtideException

/** The state of one partition: rings, their blocks, and the indexes of what falls due.
  *
  * An entry of the index says from which end on a key owes results, at every boundary until its ring
  * is empty or has a gap. So a key that is always active has an entry that never moves.
  *
  * In the index by the clock a key stands at a time at which it was due once: it is put at a later one
  * when that has come. So a key that is always active is moved once in its timeout. When keys are due
  * indeed is counted beside the index. Keys whose rows come one by one are indexed by ends in the same
  * way, since each row may put off what they owe.
  *
  * A key need not be saved after windows of it have closed: what `closed` says is passed over when it
  * is read.
  *
  * Its fields `byEnd` and `byClock` are the keys by the end, and by the time, at which they next owe
  * a result. The keys of a group are by their ends in `groups`, which has to be turned to the group.
  *
  * @param nowMicros
  *   the batch's timestamp
  * @param isByRow
  *   whether the rows of keys come one by one
  * @param rules
  *   by which watermarks of keys move, and keys are silent
  * @param before
  *   what the partition remembers
  */
private[spark] final class FrameStore(
    store: StateStore,
    families: WindowStateLayout,
    batchId: Long,
    nowMicros: Long,
    isByRow: Boolean,
    rules: String,
    record: PartitionMetaStore,
    before: Option[PartitionMeta]
) {
  val byEnd = new TimerIndex(store, families.dueIndex, before.map(_.byEnd))
  val byClock = new TimerIndex(store, families.deadlineIndex, before.map(_.byClock))
  val groups: Option[WatermarkGroupStore] =
    families.groups.map(_ => new WatermarkGroupStore(store, families, batchId))

  private val deadlines = new Owed(byClock, before.fold(new TimerHistogram)(_.deadlines))
  private val ends = new Owed(byEnd, before.fold(new TimerHistogram)(_.ends))
  private var keys = before.fold(0L)(_.keys)
  private val values = new BinaryRow
  private val source = new ByteSource
  private var key: UnsafeRow = _
  private var stored = false // whether the present key has state
  private var isUnmodified = false // whether nothing of it has been written
  private var nextId = batchId << 32

  /** What the indexes have for the present key: its id, and under which end it stands where its rows
    * have been aggregated before.
    */
  private var id = 0L
  private var due = FrameWindowState.Never
  private var dueInGroup = FrameWindowState.Never

  /** Of the state: which one it is. */
  def partition: Int = store.id.partitionId

  /** The id of the present key; no other key ever has it. */
  def keyId: Long = id

  /** Windows that end at this boundary or before were given before this batch. */
  val closed: Long = before.fold(Long.MinValue)(_.closed)

  /** The highest watermark that a key has ever had of its own; `Long.MinValue` for none. */
  val watermark: Long = before.fold(Long.MinValue)(_.watermark)

  /** Whether the keys with state may have other watermarks, or be due at other times, than is known. */
  val timingChanged: Boolean = before.exists(_.rules != rules)

  /** How many keys have state. */
  def keyCount: Long = keys

  /** Turns to a key; true when it has state, which can then be read. */
  def open(key: UnsafeRow): Boolean = {
    this.key = key
    val value = store.get(key)
    stored = value != null
    isUnmodified = stored
    if (stored) resume(value) else begin()
    stored
  }

  private def begin(): Unit = {
    id = nextId
    nextId += 1
    due = FrameWindowState.Never
    ends.begin()
    deadlines.begin()
    dueInGroup = FrameWindowState.Never
  }

  private def resume(value: UnsafeRow): Unit = {
    BinaryRow.open(value, source)
    FrameStore.checkVersion(source.getByte())
    id = source.getNumber()
    if (isByRow) ends.read() else due = source.getNumber()
    deadlines.read()
    if (groups.isDefined) dueInGroup = source.getNumber()
  }

  /** Reads the present key's state. */
  def read(content: ByteSource => Unit): Unit = content(source)

  /** Whether the present key is well indexed and its blocks are as they were, if it is next due then. */
  def canSkipWrite(nextDue: Long, boundary: Long): Boolean =
    isUnmodified && isDueAgain(nextDue, boundary)

  /** A key that owes a result at the very next boundary stays where it is in the index. */
  private def isDueAgain(nextDue: Long, boundary: Long) =
    due < nextDue && nextDue == boundary + 1

  /** Saves the present key's state, with the end, the time, and the end by the watermark of its group
    * at which it is next due.
    */
  def save(
      nextDue: Long,
      boundary: Long,
      nextDeadline: Long,
      nextInGroup: Long = FrameWindowState.Never
  )(content: ByteSink => Unit): Unit = {
    if (isByRow) ends.move(nextDue, boundary)
    else if (!isDueAgain(nextDue, boundary)) due = byEnd.move(key, id, due, nextDue)
    deadlines.move(nextDeadline, nowMicros)
    val out = values.begin()
    out.putByte(FrameStore.Version)
    out.putNumber(id)
    if (isByRow) ends.write(out) else out.putNumber(due)
    deadlines.write(out)
    groups.foreach { group =>
      moveInGroup(group, nextInGroup)
      out.putNumber(dueInGroup)
    }
    content(out)
    store.put(key, values.end())
    if (!stored) count(1)
    stored = true
  }

  /** What the present key owes by one of the indexes, which may be behind. */
  private final class Owed(index: TimerIndex, val counts: TimerHistogram) {
    private var indexed = FrameWindowState.Never // where the key stands
    private var due = FrameWindowState.Never // there or later

    def begin(): Unit = {
      indexed = FrameWindowState.Never
      due = FrameWindowState.Never
    }

    /** Says when the key is next due; what the index has up to `passed` has had its turn. */
    def move(next: Long, passed: Long): Unit = {
      val canSkipWrite = next != FrameWindowState.Never && indexed <= next && indexed > passed
      if (!canSkipWrite) indexed = index.move(key, id, indexed, next)
      counts.move(due, next)
      due = next
    }

    def write(out: ByteSink): Unit = {
      val isIndexed = indexed != FrameWindowState.Never
      out.putByte(if (isIndexed) 1 else 0)
      if (isIndexed) {
        out.putNumber(indexed)
        out.putCount(due - indexed)
      }
    }

    def read(): Unit = {
      begin()
      if (source.getByte() == 1) {
        indexed = source.getNumber()
        due = indexed + source.getCount()
      }
    }
  }

  private def moveInGroup(group: WatermarkGroupStore, next: Long): Unit =
    dueInGroup = group.index.move(key, id, dueInGroup, next)

  private def count(more: Int): Unit = {
    keys += more
    groups.foreach(_.addKeys(more))
  }

  /** Forgets the present key; true when it had state. */
  def drop(): Boolean = {
    val had = stored
    if (had) {
      if (isByRow) ends.move(FrameWindowState.Never, FrameWindowState.Never)
      else byEnd.move(key, id, due, FrameWindowState.Never): Unit
      deadlines.move(FrameWindowState.Never, FrameWindowState.Never)
      groups.foreach(moveInGroup(_, FrameWindowState.Never))
      store.remove(key)
      count(-1)
    }
    stored = false
    had
  }

  /** Remembers what there is of the partition as a whole, and answers it.
    *
    * @param closing
    *   windows that end at this boundary or before have been given now
    * @param highest
    *   what `watermark` is now
    */
  def finish(closing: Long, highest: Long): PartitionMeta = {
    val facts = PartitionMeta(
      keys,
      byEnd.head,
      byClock.head,
      math.max(closed, closing),
      highest,
      rules,
      ends.counts,
      deadlines.counts
    )
    record.write(facts)
    facts
  }

  private val number = new SpecificInternalRow(Seq(LongType))
  private val joined = new JoinedRow
  private val blockKeyOf = UnsafeProjection.create(families.blockKeys)

  private def blockKey(block: Long): UnsafeRow = {
    number.setLong(0, block)
    blockKeyOf(joined(key, number))
  }

  /** All keys with state, as they are now. */
  def allKeys: StateStoreIterator[UnsafeRowPair] = store.iterator()

  /** The id of a key with that state. */
  def idOf(value: UnsafeRow): Long = {
    BinaryRow.open(value, source)
    FrameStore.checkVersion(source.getByte())
    source.getNumber()
  }

  /** The blocks of the present key's ring. */
  val blocks: BlockStore = new Blocks(WindowStateLayout.Blocks)

  /** The blocks of its frames that have closed, and may change; of rows that wait, where windows keep
    * rows.
    */
  val history: BlockStore = new Blocks(WindowStateLayout.DelayLine)

  private final class Blocks(family: String) extends BlockStore {
    private val values = new BinaryRow

    def sink(): ByteSink = values.begin()

    def write(block: Long, content: ByteSink): Unit = {
      isUnmodified = false
      store.put(blockKey(block), values.end(), family)
    }

    def read(block: Long): ByteSource = {
      val source = new ByteSource
      BinaryRow.open(store.get(blockKey(block), family), source)
      source
    }

    def remove(block: Long): Unit = {
      isUnmodified = false
      store.remove(blockKey(block), family)
    }
  }
}

private[spark] object FrameStore {

  /** Opens the state of a partition. */
  def open(
      store: StateStore,
      families: WindowStateLayout,
      batchId: Long,
      nowMicros: Long,
      isByRow: Boolean = false,
      rules: String = ""
  ): FrameStore = {
    families.create(store)
    val record = new PartitionMetaStore(store, families)
    val before = record.read()
    val state =
      new FrameStore(
        store,
        families,
        batchId,
        nowMicros,
        isByRow,
        rules,
        record,
        before
      )
    // The first format had no such record.
    if (before.isEmpty && state.byEnd.head != FrameWindowState.Never) checkVersion(1)
    state
  }

  /** Raised with every change of the format; see "State format" in CHANGELOG.md. */
  val Version = 5

  /** Refuses state in a format that is not known. */
  private[state] def checkVersion(found: Int): Unit =
    if (found != Version)
      throw EventtideException("STATE_VERSION", "found" -> found, "known" -> Version)
}
