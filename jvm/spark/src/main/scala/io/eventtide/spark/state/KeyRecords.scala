package io.eventtide.spark.state

import java.util.LinkedHashMap

import scala.jdk.CollectionConverters._

import org.apache.spark.sql.catalyst.expressions.UnsafeRow
import org.apache.spark.sql.execution.streaming.state.{
  StateStore,
  StateStoreIterator,
  UnsafeRowPair
}

/** The window state of the keys of one partition, as rows of one binary column. */
private[state] trait KeyRecords {

  /** The state of a key, valid until the next call; null if it has none. */
  def get(key: UnsafeRow): UnsafeRow

  /** Copies the state of a key. */
  def put(key: UnsafeRow, value: UnsafeRow): Unit

  def remove(key: UnsafeRow): Unit

  /** Called before the store is read or committed. */
  def flush(): Unit

  /** A snapshot of all keys with their states; a pair is valid until the next one. */
  def all: StateStoreIterator[UnsafeRowPair]

  /** The place of a key in the order in which keys are best read and written. */
  def place(key: UnsafeRow): Int = 0

  /** The bits of a key's hash that determine its page; 0 without pages. */
  def pageBits: Int = 0
}

private[state] object KeyRecords {

  /** The records of a partition.
    *
    * @param before
    *   the metadata of the partition; None in a new partition
    * @param cachedBytes
    *   how much state of keys is kept in memory until the end of the batch; 0 for none
    */
  def apply(
      store: StateStore,
      families: WindowStateLayout,
      before: Option[PartitionMeta],
      cachedBytes: Long
  ): KeyRecords = {
    val stored =
      if (families.hasPages) new KeyPages(store, families, before) else new Direct(store)
    if (cachedBytes > 0) new Cached(stored, cachedBytes) else stored
  }

  /** Reads from the store and writes to it at once. */
  final class Direct(store: StateStore) extends KeyRecords {
    def get(key: UnsafeRow): UnsafeRow = store.get(key)
    def put(key: UnsafeRow, value: UnsafeRow): Unit = store.put(key, value)
    def remove(key: UnsafeRow): Unit = store.remove(key)
    def flush(): Unit = ()
    def all: StateStoreIterator[UnsafeRowPair] = store.iterator()
  }

  /** Keeps the last keys in memory and writes a key when others need its place. In real-time mode, a
    * batch has the rows of a key one by one, and each of them reads and saves the key.
    *
    * @param most
    *   the size of the keys in memory, in bytes; at least one key is kept
    */
  final class Cached(stored: KeyRecords, most: Long) extends KeyRecords {
    private val cached =
      new LinkedHashMap[UnsafeRow, CachedRecord](1 << 10, LoadFactor, /* accessOrder = */ true)
    private var current: CachedRecord = _ // the record of the last call; null before the first
    private var bytes = 0L

    def get(key: UnsafeRow): UnsafeRow = {
      select(key)
      if (current.exists) current.value else null
    }

    def put(key: UnsafeRow, value: UnsafeRow): Unit = {
      select(key)
      bytes += value.getSizeInBytes - current.value.getSizeInBytes
      current.value.copyFrom(value)
      current.exists = true
      current.isChanged = true
      evict()
    }

    def remove(key: UnsafeRow): Unit = {
      select(key)
      current.exists = false
      current.isChanged = true
    }

    def flush(): Unit = {
      val changed = cached.values.asScala.filter(_.isChanged).toArray
      changed.sortBy(record => stored.place(record.key)).foreach(write)
      stored.flush()
    }

    def all: StateStoreIterator[UnsafeRowPair] = {
      flush()
      stored.all
    }

    override def pageBits: Int = stored.pageBits

    private def select(key: UnsafeRow): Unit =
      if (current == null || current.key != key) {
        current = cached.get(key)
        if (current == null) load(key.copy())
      }

    private def load(key: UnsafeRow): Unit = {
      current = new CachedRecord(key)
      val state = stored.get(key)
      if (state != null) current.begin(state)
      cached.put(key, current)
      bytes += current.size
      evict()
    }

    // The current key was used last, so it is the last to go.
    private def evict(): Unit = if (bytes > most && cached.size > 1) {
      val eldest = cached.values.iterator
      while (bytes > most && cached.size > 1) {
        val record = eldest.next()
        write(record)
        bytes -= record.size
        eldest.remove()
      }
    }

    private def write(record: CachedRecord): Unit = if (record.isChanged) {
      if (record.exists) stored.put(record.key, record.value)
      else if (record.isStored) stored.remove(record.key)
      record.isStored = record.exists
      record.isChanged = false
    }
  }

  private val LoadFactor = 0.75f

  /** The state of a key in memory.
    *
    * `exists` tells whether the key has state, and `isStored` whether the store has state for it.
    */
  private final class CachedRecord(val key: UnsafeRow) {
    val value: UnsafeRow = new UnsafeRow(1)
    var exists = false
    var isStored = false
    var isChanged = false

    value.pointTo(Array.emptyByteArray, 0)

    def begin(stored: UnsafeRow): Unit = {
      value.copyFrom(stored)
      exists = true
      isStored = true
    }

    def size: Long = Overhead + key.getSizeInBytes + value.getSizeInBytes
  }

  private val Overhead = 200L // the objects of an entry, roughly
}
