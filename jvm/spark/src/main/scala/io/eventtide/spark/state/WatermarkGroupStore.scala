package io.eventtide.spark.state

import org.apache.spark.sql.catalyst.expressions.{BoundReference, Expression, UnsafeRow}
import org.apache.spark.sql.eventtide.TaskScans
import org.apache.spark.sql.execution.streaming.state.{
  StateStore,
  StateStoreIterator,
  UnsafeRowPair
}

import io.eventtide.kernel.window.{ByteSink, ByteSource, FrameWindowState}

/** The groups of one partition, whose keys share a watermark; one group at a time.
  *
  * A group exists while one of its keys exists.
  */
private[spark] final class WatermarkGroupStore(
    store: StateStore,
    families: WindowStateLayout,
    batchId: Long,
    scans: Option[TaskScans]
) {

  /** The keys of the group by the end of their next window. */
  val index = new TimerIndex(store, families.groupTimers, None, scans)

  private val values = new BinaryRow
  private val source = new ByteSource
  private lazy val ids = new RecordIds
  private val groupOf = Projections.unsafe(groupColumns)
  private var group: UnsafeRow = _ // null before the first group
  private var stored = false
  private var isChanged = false
  private var keys = 0L
  private var nextId = batchId << 32

  private def groupColumns: Seq[Expression] = families.groups.getOrElse(Nil).map { at =>
    val key = families.keys(at)
    BoundReference(at, key.dataType, key.nullable)
  }

  /** The columns of the current group. */
  def key: UnsafeRow = group

  /** The id of the current group; ids are never reused. */
  def id: Long = index.group

  /** Whether a key belongs to the current group. */
  def hasKey(key: UnsafeRow): Boolean = group != null && groupOf(key) == group

  /** Opens the group of a key; true if it has state, which can then be read. */
  def openOf(key: UnsafeRow): Boolean = open(groupOf(key).copy())

  /** Opens a group; true if it has state, which can then be read. */
  def open(group: UnsafeRow): Boolean = {
    this.group = group
    val value = store.get(group, WindowStateLayout.Groups)
    stored = value != null
    isChanged = false
    if (stored) resume(value) else begin()
    stored
  }

  private def begin(): Unit = {
    index.select(nextId, FrameWindowState.Never)
    keys = 0
    nextId += 1
  }

  private def resume(value: UnsafeRow): Unit = {
    BinaryRow.open(value, source)
    FrameStore.checkVersion(source.getByte())
    index.select(source.getNumber(), source.getNumber())
    keys = source.getCount()
  }

  /** Adds a group that another partition has saved, with all of its keys. */
  def adopt(group: UnsafeRow, saved: UnsafeRow): Unit = {
    store.put(group, ids.replace(saved, nextId), WindowStateLayout.Groups)
    nextId += 1
  }

  /** Reads the group's saved watermark. */
  def read(content: ByteSource => Unit): Unit = content(source)

  /** Marks the current group as changed. */
  def change(): Unit = isChanged = true

  private[state] def addKeys(count: Int): Unit = {
    keys += count
    isChanged = true
  }

  /** Saves the current group if it has changed, or removes it with its last key. */
  def save(content: ByteSink => Unit): Unit = if (isChanged) {
    if (keys == 0) { if (stored) store.remove(group, WindowStateLayout.Groups) }
    else {
      val out = values.begin()
      out.putByte(FrameStore.Version)
      out.putNumber(id)
      out.putNumber(index.lowest)
      out.putCount(keys)
      content(out)
      store.put(group, values.end(), WindowStateLayout.Groups)
    }
    stored = keys > 0
    isChanged = false
  }

  /** A snapshot of all groups. */
  def all: StateStoreIterator[UnsafeRowPair] = store.iterator(WindowStateLayout.Groups)
}
