package io.eventtide.spark.state

import org.apache.spark.sql.catalyst.expressions.{
  BindReferences,
  BitwiseAnd,
  Expression,
  Literal,
  Murmur3Hash,
  UnsafeProjection,
  UnsafeRow
}
import org.apache.spark.sql.catalyst.types.DataTypeUtils
import org.apache.spark.sql.execution.streaming.state.{
  StateStore,
  StateStoreIterator,
  UnsafeRowPair
}

/** The states of keys in pages: a page is one record with the keys whose hashes begin with the same
  * bits. An access to the store costs more than its bytes, and keys come sorted by their hash. So
  * each page is read and written once in a batch.
  *
  * The number of bits grows with the number of keys. A state that is larger than `Most` bytes has a
  * record of its own, so that a page never becomes large.
  *
  * @param before
  *   the metadata of the partition; None in a new partition
  */
private[state] final class KeyPages(
    store: StateStore,
    families: WindowStateLayout,
    before: Option[PartitionMeta]
) extends KeyRecords {
  import KeyPages._

  private val hashOf = KeyPages.hashOf(families)
  private val page = new KeyPage(families.keys.length)
  private val numbers = new PageNumbers
  private var hashBits = before.fold(0)(_.pageBits)
  private var keys = before.fold(0L)(_.keys)
  private var current = Unselected
  private var changed = false
  private var isStored = false // whether the store has the current page

  override def pageBits: Int = hashBits

  def get(key: UnsafeRow): UnsafeRow = {
    select(hashOf(key))
    val i = page.find(key)
    if (i < 0) null else if (page.isAlone(i)) store.get(key) else page.stateAt(i)
  }

  def put(key: UnsafeRow, value: UnsafeRow): Unit = {
    select(hashOf(key))
    val i = page.find(key)
    val isAlone = value.getSizeInBytes > Most
    val wasAlone = i >= 0 && page.isAlone(i)
    if (isAlone) store.put(key, value) else if (wasAlone) store.remove(key)
    if (!isAlone || !wasAlone) {
      page.put(key, if (isAlone) null else value)
      changed = true
    }
    if (i < 0) {
      keys += 1
      if (keys > (KeysOfPage << hashBits) && hashBits < HashBits) split()
    }
  }

  def remove(key: UnsafeRow): Unit = {
    select(hashOf(key))
    val i = page.find(key)
    if (i >= 0) {
      if (page.isAlone(i)) store.remove(key)
      page.remove(i)
      changed = true
      keys -= 1
    }
  }

  override def place(key: UnsafeRow): Int = hashOf(key)

  private def select(hash: Int): Unit = {
    val number = hash >>> (HashBits - hashBits)
    if (number != current) {
      flush()
      val record = store.get(numbers(number, hashBits), WindowStateLayout.Pages)
      isStored = record != null
      if (isStored) page.read(record) else page.clear()
      current = number
    }
  }

  def flush(): Unit = if (changed) {
    isStored = write(page, current, isStored)
    changed = false
  }

  /** Writes a page, or removes it if it is empty; returns whether the store has it then. */
  private def write(page: KeyPage, number: Int, isStored: Boolean): Boolean = {
    val row = numbers(number, hashBits)
    if (page.size > 0) store.put(row, page.write(), WindowStateLayout.Pages)
    else if (isStored) store.remove(row, WindowStateLayout.Pages)
    page.size > 0
  }

  /** Doubles the number of pages. */
  private def split(): Unit = {
    flush()
    current = Unselected
    val pages = store.iterator(WindowStateLayout.Pages)
    val whole = new KeyPage(families.keys.length)
    val halves = Array.fill(2)(new KeyPage(families.keys.length))
    hashBits += 1
    try
      pages.foreach { one =>
        whole.read(one.value)
        halves.foreach(_.clear())
        var number = 0
        for (i <- 0 until whole.size) {
          val key = whole.keyAt(i)
          number = hashOf(key) >>> (HashBits - hashBits)
          halves(number & 1).put(key, if (whole.isAlone(i)) null else whole.stateAt(i))
        }
        // The first half has the record of the whole.
        write(halves(0), number & ~1, isStored = true): Unit
        write(halves(1), number | 1, isStored = false): Unit
      }
    finally pages.close()
  }

  def all: StateStoreIterator[UnsafeRowPair] = {
    flush()
    KeyPages.all(store, families)
  }
}

private[spark] object KeyPages {

  /** The most keys of an average page. More would make batches cheaper that have rows of most keys,
    * and others dearer.
    */
  private val KeysOfPage = 8L

  /** The maximum size of a state in a page, in bytes. */
  private val Most = 256

  private val HashBits = 31
  private val Unselected = -1

  // Differs from the seed of Spark's partitioning, because each partition has only keys of a few
  // hashes by that seed.
  private val Seed = 43

  /** The hash of a key, of 31 bits. Pages are in its order. */
  def hash(keys: Seq[Expression]): Expression =
    if (keys.isEmpty) Literal(0)
    else BitwiseAnd(Murmur3Hash(keys, Seed), Literal(Int.MaxValue))

  private def hashOf(families: WindowStateLayout): UnsafeRow => Int = {
    val columns = DataTypeUtils.toAttributes(families.keys)
    val bound = BindReferences.bindReference(hash(columns), columns)
    val projection = UnsafeProjection.create(Seq(bound))
    key => projection(key).getInt(0)
  }

  /** A snapshot of all keys in pages with their states; a pair is valid until the next one. */
  private[state] def all(
      store: StateStore,
      families: WindowStateLayout
  ): StateStoreIterator[UnsafeRowPair] = {
    val pages = store.iterator(WindowStateLayout.Pages)
    val page = new KeyPage(families.keys.length)
    val pair = new UnsafeRowPair
    def stateOf(i: Int) =
      if (page.isAlone(i)) store.get(page.keyAt(i)) else page.stateAt(i)
    val entries = pages.flatMap { one =>
      page.read(one.value)
      // A state with a record of its own may have been removed since.
      (0 until page.size).iterator
        .map(i => pair.withRows(page.keyAt(i), stateOf(i)))
        .filter(_.value != null)
    }
    new StateStoreIterator(entries, () => pages.close())
  }
}

/** The rows by which pages are stored: in the order of the hashes, whatever the number of bits. A
  * state store compares bytes from the lowest up.
  */
private final class PageNumbers {
  private val row = new UnsafeRow(1)
  row.pointTo(new Array[Byte](16), 16)

  /** The row of a page, valid until the next call. */
  def apply(number: Int, bits: Int): UnsafeRow = {
    row.setLong(0, java.lang.Long.reverseBytes(number.toLong << (63 - bits)))
    row
  }
}
