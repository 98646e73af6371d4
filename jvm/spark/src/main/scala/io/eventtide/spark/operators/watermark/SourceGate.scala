package io.eventtide.spark.operators.watermark

import java.util.concurrent.atomic.AtomicInteger

import org.apache.spark.sql.catalyst.InternalRow

/** Knows whether a row of a task's source is under way through the operators above the source.
  *
  * In real-time mode, a source waits for rows while its task holds what the rows so far have told
  * about event time. Another thread may read this only while no row is under way: otherwise it
  * would overtake that row.
  */
private[spark] final class SourceGate extends Serializable {
  import SourceGate._

  private val state = new AtomicInteger(UnderWay)
  @transient private var listener: Listener = _ // null if nothing needs to know

  /** Sets the listener of the task; called before the first row is read. */
  private[watermark] def open(listener: Listener): Unit = this.listener = listener

  /** Runs `work` if no row is under way; rows that arrive meanwhile wait. */
  private[watermark] def whileWaiting(work: => Unit): Unit =
    if (state.compareAndSet(Waiting, Held)) {
      try work
      finally state.set(Waiting)
    }

  /** The rows of the source, which the operators above read through this gate. */
  def rows(source: Iterator[InternalRow]): Iterator[InternalRow] = new Iterator[InternalRow] {
    private var isKnown = false
    private var more = false

    override def hasNext: Boolean = {
      if (!isKnown) {
        more = if (listener == null) source.hasNext else awaitRow(source)
        isKnown = true
      }
      more
    }

    override def next(): InternalRow = {
      if (!hasNext) throw new NoSuchElementException
      isKnown = false
      source.next()
    }
  }

  private def awaitRow(source: Iterator[InternalRow]): Boolean = {
    listener.endRow()
    state.set(Waiting)
    val more =
      try source.hasNext
      finally while (!state.compareAndSet(Waiting, UnderWay)) Thread.onSpinWait()
    if (more) listener.beginRow() else listener.readAll()
    more
  }
}

private[spark] object SourceGate {
  private val UnderWay = 0
  private val Waiting = 1
  private val Held = 2

  /** Is called on the thread that reads the source, between two rows. */
  private[watermark] trait Listener {

    /** A row begins its way through the operators. */
    def beginRow(): Unit

    /** No row is under way, and the source may wait from now on. */
    def endRow(): Unit

    /** The source has no more rows. */
    def readAll(): Unit
  }
}
