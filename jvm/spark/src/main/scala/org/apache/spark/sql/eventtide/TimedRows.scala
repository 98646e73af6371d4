package org.apache.spark.sql.eventtide

import java.util.concurrent.TimeUnit.MICROSECONDS
import java.util.concurrent.{ArrayBlockingQueue, BlockingQueue}

import org.apache.spark.TaskContext
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.UnsafeRow

/** Rows of a task's input that may block for minutes, as a source and a pipelined shuffle do. A
  * thread of its own reads them after `start`, so the task can wait for the next row for a limited
  * time. Rows are copied into rows that have been read, so none is allocated once the queues are
  * full.
  *
  * The input may put signals between the rows.
  */
final class TimedRows(input: Iterator[InternalRow]) extends Iterator[InternalRow] {
  import TimedRows._

  private val ready: BlockingQueue[AnyRef] = new ArrayBlockingQueue(Capacity)
  private val free: BlockingQueue[UnsafeRow] = new ArrayBlockingQueue(Capacity)
  private var head: AnyRef = _ // null until it is known
  private var returned: UnsafeRow = _

  private var lastRow = System.nanoTime

  private val context = TaskContext.get()
  private val reader = new Thread(() => read(), "eventtide real-time reader")
  reader.setDaemon(true)
  context.addTaskCompletionListener[Unit] { _ =>
    reader.interrupt()
    reader.join()
  }

  def start(): this.type = {
    reader.start()
    this
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
    if (head == null) head = ready.poll(micros, MICROSECONDS)
    head != null
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
    if (returned != null) free.offer(returned): Unit
    returned = head.asInstanceOf[UnsafeRow]
    head = null
    lastRow = System.nanoTime
    returned
  }

  private def read(): Unit = {
    TaskContext.setTaskContext(context)
    try {
      while (input.hasNext) ready.put(copied(input.next().asInstanceOf[UnsafeRow]))
      ready.put(End)
    } catch {
      case _: InterruptedException => () // the task has ended
      case failure: Throwable => ready.put(Failed(failure))
    }
  }

  private def copied(row: UnsafeRow): UnsafeRow = {
    val into = free.poll()
    if (into == null) row.copy()
    else {
      into.copyFrom(row)
      into
    }
  }
}

private object TimedRows {
  private val Capacity = 1024

  private case object End
  private final case class Signal(value: AnyRef)
  private final case class Failed(failure: Throwable)
}
