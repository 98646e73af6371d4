package io.eventtide.spark.operators.window

import java.io.ByteArrayOutputStream
import java.util.BitSet

import scala.collection.mutable

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{GenericInternalRow, UnsafeRow}
import org.apache.spark.sql.catalyst.util.{ArrayData, GenericArrayData}
import org.apache.spark.unsafe.Platform

import io.eventtide.kernel.rowwindow.{RetainedRowWindows, RowLog, SegmentTree}
import io.eventtide.spark.operators.{ResultProjection, WindowOperatorSpec}
import io.eventtide.spark.options.WindowKind
import io.eventtide.spark.state.{AggregateFunctions, BufferPool, Projections}

/** Emits the results of the windows of one key at a time. */
private[window] trait ResultEmitter {

  /** Called before the windows of another key. */
  def begin(): Unit

  /** Advances to the next output row; false when all have been emitted. */
  def next(): Boolean

  /** The current output row, valid until the next one. */
  def row(key: UnsafeRow): InternalRow
}

/** Reads rows in place. */
private[window] final class RowLogReader(log: RowLog, columns: Int) {
  private val row = new UnsafeRow(columns)

  /** The row of a slot, valid until the next call. */
  def apply(slot: Int): UnsafeRow = {
    log.select(slot)
    row.pointTo(log.bytes, Platform.BYTE_ARRAY_OFFSET.toLong + log.start, log.length)
    row
  }
}

/** Reads the rows of an output line in batches, large enough to be efficient and limited to `Most`
  * rows and about `MostBytes` bytes.
  */
private final class RowBatchReader(log: RowLog, columns: Int) {
  private val views = mutable.ArrayBuffer.empty[UnsafeRow]

  /** The slot after the last row that was read. */
  var end = 0

  /** Rows from a slot on, valid until the next call. */
  def from(slot: Int, until: Int): ArrayData = {
    end = slot
    var bytes = 0L
    while (end < until && end - slot < RowBatchReader.Most && bytes < RowBatchReader.MostBytes) {
      log.select(end)
      view(end - slot).pointTo(log.bytes, Platform.BYTE_ARRAY_OFFSET.toLong + log.start, log.length)
      bytes += log.length
      end += 1
    }
    new GenericArrayData(views.view.take(end - slot).toArray[Any])
  }

  private def view(at: Int): UnsafeRow = {
    if (at == views.length) views += new UnsafeRow(columns)
    views(at)
  }
}

private object RowBatchReader {
  private val Most = 1000
  private val MostBytes = 1 << 20
}

/** Aggregates over the rows of each window. */
private[window] final class AggregatedResults(
    spec: WindowOperatorSpec,
    kind: WindowKind.RetainingRows,
    windows: RetainedRowWindows,
    calls: AggregateFunctions,
    buffers: BufferPool
) extends ResultEmitter {
  private val results = new ResultProjection(spec)
  private val rows = new RowLogReader(windows.log, calls.inputColumns)
  private var tree: SegmentTree = _ // null before the first window

  def begin(): Unit = tree = null

  def next(): Boolean = {
    val found = windows.next()
    if (found && tree == null) tree = new SegmentTree(buffers, windows.log.slots, leaf)
    found
  }

  private def leaf(slot: Int): Int = {
    val one = buffers.fresh()
    buffers.merge(one, buffers.input(rows(slot)))
    one
  }

  def row(key: UnsafeRow): InternalRow = {
    val merged = tree.of(windows.members)
    val values = calls.evaluate(buffers.row(merged))
    val made = results.row(key, kind.startOf(windows.end), windows.end, values)
    buffers.release(merged)
    made
  }
}

/** Emits the rows of windows in lines; see `RowWindowOutput` for the columns of a line. */
private[window] final class RowResults(
    spec: WindowOperatorSpec,
    kind: WindowKind.RetainingRows,
    windows: RetainedRowWindows
) extends ResultEmitter {
  private val rows = new RowBatchReader(windows.log, spec.rows.get.stored.get.length)
  private val shownKey =
    Projections.unsafe(spec.result.key, spec.keys)
  private val toLine = Projections.columns(spec.output.map(_.dataType))
  private val line = new GenericInternalRow(3)
  private val windowLine = new GenericInternalRow(4)
  private val keyLine = new GenericInternalRow(2)

  private var first = -1 // slot of the key's first emitted row; -1 before the key's line
  private var sent = 0 // slot up to which rows have been emitted
  private var wanted = 0 // slot up to which the current window needs rows
  private var isOwed = false // whether the current window's line is still to be emitted

  def begin(): Unit = {
    first = -1
    isOwed = false
    sent = 0
    wanted = 0
  }

  def next(): Boolean = {
    val isTurned = isOwed || windows.next()
    if (isTurned && !isOwed) {
      isOwed = true
      wanted = math.max(wanted, windows.members.length)
    }
    isTurned
  }

  // A row is emitted no later than the first window that contains it, together with the rows before
  // it.
  def row(key: UnsafeRow): InternalRow = {
    line.update(2, if (first < 0) beginning(key) else null)
    line.update(1, rows.from(sent, wanted))
    sent = rows.end
    isOwed = sent < wanted
    line.update(0, if (isOwed) null else ofWindow)
    toLine(line)
  }

  private def beginning(key: UnsafeRow): InternalRow = {
    first = windows.firstSlot
    sent = first
    wanted = math.max(wanted, math.max(first, windows.before.length))
    keyLine.update(0, shownKey(key))
    keyLine.update(1, ranges(windows.before))
    keyLine
  }

  private def ofWindow: InternalRow = {
    if (kind.hasStart) windowLine.setLong(0, kind.startOf(windows.end)) else windowLine.setNullAt(0)
    windowLine.setLong(1, windows.end)
    windowLine.update(2, ranges(windows.members))
    windowLine.setInt(3, windows.lowestSlot - first)
    windowLine
  }

  private def ranges(slots: BitSet): Array[Byte] = {
    val out = new ByteArrayOutputStream
    def put(slot: Int): Unit = {
      val number = slot - first
      for (shift <- 0 until Integer.SIZE by java.lang.Byte.SIZE) out.write(number >>> shift)
    }
    var from = slots.nextSetBit(0)
    while (from >= 0) {
      val until = slots.nextClearBit(from)
      put(from)
      put(until)
      from = slots.nextSetBit(until)
    }
    out.toByteArray
  }
}
