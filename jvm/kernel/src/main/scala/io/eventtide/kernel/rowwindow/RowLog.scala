package io.eventtide.kernel.rowwindow

import scala.collection.mutable

import io.eventtide.kernel.window.{BlockStore, ByteSink, ByteSource}

/** The rows of one key, each stored once, in blocks of a block store; numbered from 0 by arrival.
  *
  * The instance is reused for one key after another: `begin` or `read`, then `add`, `load` if rows
  * are required, then `drop` and `write`. Blocks that are not loaded are not read. A loaded row has
  * a slot.
  *
  *   - '''Guarantee:''' a row is written once when it arrives, and once more each time its block
  *     doubles, up to `RowLimits.rows`.
  *   - '''Edges:''' a block is removed when none of its rows is required any more.
  *
  * @param isNumbered
  *   whether rows are read by number; if not, blocks that are not adjacent may be merged
  */
final class RowLog(archive: BlockStore, limits: RowLimits, isNumbered: Boolean = true) {
  private val blocks = mutable.ArrayBuffer.empty[RowLog.Entry]
  private val tail = new RowBlock // rows that are not in the archive yet
  private var end = 0L // the number of the next row

  private val loaded = mutable.ArrayBuffer.empty[Loaded]
  private var slotTimes = Array.emptyLongArray
  private var slotCount = 0
  private var lowestElsewhere = RowLog.Never
  private var atHand: Loaded = _ // has the current row
  private val reread = new RowBlock
  private var rereadOf: Loaded = _

  def begin(): Unit = {
    blocks.clear()
    tail.clear()
    end = 0
    unload()
  }

  private def unload(): Unit = {
    loaded.clear()
    slotCount = 0
    atHand = null
    rereadOf = null
  }

  /** The number of rows added so far, including removed rows. */
  def rows: Long = end

  def isEmpty: Boolean = blocks.isEmpty && tail.isEmpty

  def add(ts: Long, row: RowContent): Unit = {
    tail.add(ts, row)
    end += 1
    keepShort()
  }

  /** Adds a loaded row of another log. */
  def add(from: RowLog, slot: Int): Unit = {
    from.select(slot)
    tail.add(from.block, from.rowOfBlock)
    end += 1
    keepShort()
  }

  private def keepShort(): Unit =
    if (tail.count >= limits.rows || tail.byteCount >= limits.bytes) put()

  /** The lowest time of all rows; `Never` if there is none. */
  def lowest: Long = entries.foldLeft(RowLog.Never)((time, entry) => math.min(time, entry.lowest))

  private def entries: Iterator[RowLog.Entry] =
    blocks.iterator ++ Option.when(!tail.isEmpty)(entryOf(tail, end - tail.count))

  /** Loads the blocks with a row below a time, and the rows that are already in memory. */
  def load(below: Long): Unit = {
    unload()
    lowestElsewhere = RowLog.Never
    var held = 0
    blocks.foreach { entry =>
      if (entry.lowest >= below) lowestElsewhere = math.min(lowestElsewhere, entry.lowest)
      else {
        held += entry.count
        take(entry.first, read(entry, new RowBlock), isHeld = held <= limits.atHand)
      }
    }
    if (!tail.isEmpty) take(end - tail.count, tail, isHeld = true)
  }

  private def take(first: Long, block: RowBlock, isHeld: Boolean): Unit = {
    if (slotCount + block.count > slotTimes.length)
      slotTimes =
        java.util.Arrays.copyOf(slotTimes, math.max(slotCount + block.count, slotTimes.length * 2))
    block.copyTimes(slotTimes, slotCount)
    loaded += new Loaded(first, slotCount, block.count, if (isHeld) block else null)
    slotCount += block.count
  }

  private def read(entry: RowLog.Entry, into: RowBlock): RowBlock = {
    into.read(archive.read(entry.first))
    into
  }

  /** The number of loaded rows; their slots are from 0 on, in order. */
  def slots: Int = slotCount

  /** The times of the loaded rows, by slot. */
  def times: Array[Long] = slotTimes

  /** The lowest time of the rows that are not loaded; `Never` if there is none. */
  def lowestLeft: Long = lowestElsewhere

  /** The number of a loaded row. */
  def number(slot: Int): Long = {
    val block = loadedAt(slot)
    block.first + (slot - block.slot)
  }

  /** The first slot whose row has at least this number. */
  def slotFrom(number: Long): Int = {
    val block = loaded.find(block => number < block.first + block.count)
    block.fold(slotCount)(block => block.slot + math.max(0, number - block.first).toInt)
  }

  /** Moves to a loaded row, which is then at `rowOfBlock` in `block`. */
  def select(slot: Int): Unit = {
    atHand = loadedAt(slot)
    rowOfBlock = slot - atHand.slot
    block = if (atHand.block != null) atHand.block else readAgain(atHand)
  }

  private[rowwindow] var block: RowBlock = _
  private[rowwindow] var rowOfBlock = 0

  /** The array that has the current row, from `start` on. */
  def bytes: Array[Byte] = block.bytes
  def start: Int = block.start(rowOfBlock)
  def length: Int = block.length(rowOfBlock)

  private def readAgain(wanted: Loaded): RowBlock = {
    if (rereadOf ne wanted) {
      reread.read(archive.read(wanted.first))
      rereadOf = wanted
    }
    reread
  }

  private def loadedAt(slot: Int): Loaded =
    if (atHand != null && atHand.has(slot)) atHand
    else {
      var (low, high) = (0, loaded.length - 1)
      while (low < high) {
        val middle = (low + high + 1) >>> 1
        if (loaded(middle).slot <= slot) low = middle else high = middle - 1
      }
      loaded(low)
    }

  /** Removes the blocks for which `isDone` is true. */
  private[rowwindow] def drop(isDone: RowLog.Entry => Boolean): Unit = {
    blocks.filterInPlace { entry =>
      val done = isDone(entry)
      if (done) archive.remove(entry.first)
      !done
    }
    if (!tail.isEmpty && isDone(entryOf(tail, end - tail.count))) tail.clear()
  }

  /** Removes all rows. */
  def clear(): Unit = drop(_ => true)

  /** Removes all rows up to a time and passes their slots to `give`; later rows stay, in order. */
  def takeUpTo(time: Long)(give: Int => Unit): Unit = {
    load(if (time == Long.MaxValue) time else time + 1)
    val left = new RowBlock
    loaded.foreach { from =>
      left.clear()
      var slot = from.slot
      while (slot < from.slot + from.count) {
        if (slotTimes(slot) <= time) give(slot)
        else {
          select(slot)
          left.add(block, rowOfBlock)
        }
        slot += 1
      }
      if (left.count < from.count) replace(from, left)
    }
    unload()
  }

  private def replace(from: Loaded, left: RowBlock): Unit =
    if (from.block eq tail) {
      tail.clear()
      tail.addAll(left)
    } else {
      val at = blocks.indexWhere(_.first == from.first)
      if (left.isEmpty) {
        archive.remove(from.first)
        blocks.remove(at): Unit
      } else {
        store(from.first, left)
        blocks(at) = entryOf(left, from.first)
      }
    }

  // Blocks double, so that a row is not rewritten with each later row. Rows between two blocks that
  // are not adjacent have been removed. If `isNumbered`, such blocks are not merged, because row
  // numbers are consecutive within a block.
  private def put(): Unit = {
    var whole = tail
    var first = end - tail.count
    while (blocks.nonEmpty && isBefore(first) && fits(blocks.last, whole)) {
      val grown = new RowBlock
      grown.addAll(read(blocks.last, new RowBlock))
      grown.addAll(whole)
      whole = grown
      if (first < end - tail.count) archive.remove(first)
      first = blocks.remove(blocks.length - 1).first
    }
    store(first, whole)
    blocks += entryOf(whole, first)
    tail.clear()
  }

  private def isBefore(first: Long) = !isNumbered || blocks.last.last + 1 == first

  private def fits(last: RowLog.Entry, more: RowBlock): Boolean =
    last.count <= more.count && last.count + more.count <= limits.rows &&
      last.bytes + more.byteCount <= limits.bytes

  private def store(name: Long, content: RowBlock): Unit = {
    val out = archive.sink()
    content.write(out)
    archive.write(name, out)
  }

  private def entryOf(block: RowBlock, first: Long): RowLog.Entry = {
    var (lowest, highest) = (Long.MaxValue, Long.MinValue)
    var row = 0
    while (row < block.count) {
      lowest = math.min(lowest, block.time(row))
      highest = math.max(highest, block.time(row))
      row += 1
    }
    RowLog.Entry(first, block.count, lowest, highest, block.byteCount)
  }

  def write(out: ByteSink): Unit = {
    if (!tail.isEmpty) put()
    out.putCount(end)
    out.putCount(blocks.length.toLong)
    blocks.foreach(_.write(out))
  }

  def read(in: ByteSource): Unit = {
    begin()
    end = in.getCount()
    val count = in.getCount().toInt
    for (_ <- 0 until count) blocks += RowLog.Entry.read(in)
  }

  /** @param block rows of the block; null if they are read again on access */
  private final class Loaded(val first: Long, val slot: Int, val count: Int, val block: RowBlock) {
    def has(other: Int): Boolean = other >= slot && other < slot + count
  }
}

/** The size limits for blocks of rows.
  *
  * @param rows maximum number of rows in a block
  * @param bytes size in bytes from which on a block takes no more rows
  * @param atHand maximum number of rows of a key in memory at the same time; other rows are read on
  *   access
  */
final case class RowLimits(rows: Int = 1024, bytes: Int = 1 << 20, atHand: Int = 1000000)

private[rowwindow] object RowLog {
  val Never: Long = Long.MaxValue

  /** A block in the archive.
    *
    * @param first number of its first row at creation, which is the name of the block
    */
  final case class Entry(first: Long, count: Int, lowest: Long, highest: Long, bytes: Int) {
    def last: Long = first + count - 1

    def write(out: ByteSink): Unit = {
      out.putCount(first)
      out.putCount(count.toLong)
      out.putNumber(lowest)
      out.putCount(highest - lowest)
      out.putCount(bytes.toLong)
    }
  }

  object Entry {
    def read(in: ByteSource): Entry = {
      val first = in.getCount()
      val count = in.getCount().toInt
      val lowest = in.getNumber()
      Entry(first, count, lowest, lowest + in.getCount(), in.getCount().toInt)
    }
  }
}
