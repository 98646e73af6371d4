package org.apache.spark.sql.eventtide

import java.util.concurrent.TimeUnit.MICROSECONDS
import java.util.concurrent.{ArrayBlockingQueue, BlockingQueue, Semaphore}

import org.apache.spark.TaskContext
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.UnsafeRow
import org.apache.spark.unsafe.Platform

/** Rows of a task's input that may block for minutes, as a source and a pipelined shuffle do. A
  * thread of its own reads them after `start`, so the task can wait for the next row for a limited
  * time.
  *
  * The input may put signals between the rows.
  *
  *   - '''Edges:''' at most 1 024 rows and 16 MiB of them wait, or one row that is larger, beside the row
  *     that the task has. Rows of up to 4 KiB are copied into arrays that are used again.
  */
final class TimedRows(input: Iterator[InternalRow]) extends Iterator[InternalRow] {
  import TimedRows._

  private val ready: BlockingQueue[AnyRef] = new ArrayBlockingQueue(Capacity)
  private val free: BlockingQueue[UnsafeRow] = new ArrayBlockingQueue(Capacity)
  private val room = new Semaphore(LargeRows) // in bytes
  private var head: AnyRef = _ // null until it is known
  private var returned: UnsafeRow = _

  private var lastRow = System.nanoTime

  private val context = TaskContext.get()
  private val reader = new Thread(() => read(), "eventtide real-time reader")
  @volatile private var hasEnded = false // whether the task needs no more rows
  private var stopsFirst = false
  reader.setDaemon(true)
  stopWithTask()

  def start(): this.type = {
    reader.start()
    this
  }

  private def stopWithTask(): Unit = context.addTaskCompletionListener[Unit](_ => stop()): Unit

  private def stop(): Unit = {
    hasEnded = true
    reader.interrupt()
    reader.join()
  }

  /** Puts a signal after the rows so far. The caller is the input, on its thread. */
  def signal(value: AnyRef): Unit = ready.put(Signal(value))

  /** The signal that comes before the next row; null if there is none. */
  def takeSignal(): AnyRef = head match {
    case Signal(value) =>
      head = null
      value
    case _ => null
  }

  /** Waits for the next row, for a signal or for the end of the input, for `micros` at most; whether
    * it is there.
    */
  def await(micros: Long): Boolean = {
    if (head == null) {
      head = ready.poll(micros, MICROSECONDS)
      if (!stopsFirst && (head != null || micros > 0)) stopBeforeSource()
    }
    head != null
  }

  // The last listener of a task runs first. The source adds its listener, which closes it, when the
  // reader asks for the first row. So the reader's thread has to stop before.
  private def stopBeforeSource(): Unit = {
    stopsFirst = true
    stopWithTask()
  }

  /** How long no row has arrived. */
  def silentMicros: Long = (System.nanoTime - lastRow) / 1000

  /** The next row, without moving to it; there is one. */
  def upcoming: InternalRow = head.asInstanceOf[UnsafeRow]

  def hasNext: Boolean = {
    if (head == null) head = ready.take()
    head match {
      case Failed(failure) => throw failure
      case End => false
      case _ => true
    }
  }

  /** The next row, valid until the next call. */
  def next(): InternalRow = {
    if (!hasNext) throw new NoSuchElementException
    if (returned != null && !isLarge(returned)) free.offer(returned): Unit
    returned = head.asInstanceOf[UnsafeRow]
    head = null
    // At once: the reader may wait for this room with the only row that can follow.
    if (isLarge(returned)) room.release(reserved(returned))
    lastRow = System.nanoTime
    returned
  }

  private def read(): Unit = {
    TaskContext.setTaskContext(context)
    try {
      while (input.hasNext) ready.put(copied(input.next().asInstanceOf[UnsafeRow]))
      ready.put(End)
    } catch {
      case failure: Throwable => if (!hasEnded) fail(failure) // else `stop` has interrupted it
    }
  }

  // An exception that leaves the thread would end the executor.
  private def fail(failure: Throwable): Unit =
    try ready.put(Failed(failure))
    catch { case _: InterruptedException => () }

  private def copied(row: UnsafeRow): UnsafeRow =
    if (isLarge(row)) {
      room.acquire(reserved(row))
      row.copy()
    } else {
      val unused = free.poll()
      copiedInto(if (unused == null) new UnsafeRow(row.numFields) else unused, row)
    }

  private def copiedInto(into: UnsafeRow, row: UnsafeRow): UnsafeRow = {
    val size = row.getSizeInBytes
    val bytes = into.getBaseObject match {
      case used: Array[Byte] if used.length >= size => used
      case _ => new Array[Byte](Integer.highestOneBit(size) * 2)
    }
    row.writeToMemory(bytes, Platform.BYTE_ARRAY_OFFSET)
    into.pointTo(bytes, size)
    into
  }
}

private object TimedRows {
  private val Capacity = 1024 // rows
  private val SmallRow = 4 << 10 // bytes
  private val LargeRows = 12 << 20 // bytes

  private case object End
  private final case class Signal(value: AnyRef)
  private final case class Failed(failure: Throwable)

  private def isLarge(row: UnsafeRow): Boolean = row.getSizeInBytes > SmallRow

  private def reserved(row: UnsafeRow): Int = math.min(row.getSizeInBytes, LargeRows)
}
