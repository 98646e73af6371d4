package io.eventtide.kernel.completeness

import java.io.{DataInput, DataOutput}
import java.util.{TreeMap => JTreeMap}

import scala.collection.mutable.{ArrayBuffer, ArrayDeque}

import io.eventtide.kernel.StateVersion

/** A window that has closed.
  *
  * @param start
  *   the time at which it starts; `end` is the time at which it ends
  * @param rows
  *   the number of its rows; 0 if it closed with late rows only
  * @param batchId
  *   the batch that closed it
  * @param closedAt
  *   the clock's time of that batch
  * @param missing
  *   the number of its rows that were expected to come later
  * @param step
  *   the step of the calibration of its share
  */
final case class ClosedWindow(
    start: Long,
    end: Long,
    rows: Long,
    batchId: Long,
    closedAt: Long,
    missing: Double,
    private[completeness] val step: Int
)

/** The last windows that have closed, and the rows that came too late for them.
  *
  *   - '''Units:''' times are in the unit of event time. A late row is known by the start of its frame.
  *   - '''Edges:''' more than `keep` windows are forgotten, the oldest first, with the late rows before
  *     the start of the oldest one that is left.
  *   - '''Restart:''' format 2: the number of forgotten windows, the batch of the last one, the time of
  *     the last closed boundary, the windows and the late rows. A whole record has all of them,
  *     another one those since the last save.
  *
  * @param keep the highest number of windows, and of frames with late rows
  */
final class ClosedWindows(keep: Int) {
  import ClosedWindows._

  private val windows = ArrayDeque.empty[ClosedWindow]
  private val late = new JTreeMap[Long, Long]
  private val newWindows = ArrayBuffer.empty[ClosedWindow]
  private val newLate = ArrayBuffer.empty[(Long, Long)]
  private var lastForgotten = -1L
  private var dropped = 0L // the number of windows that have been forgotten
  private var reached = Long.MinValue

  def add(window: ClosedWindow): Unit = {
    newWindows += window
    put(window)
  }

  private def put(window: ClosedWindow): Unit = {
    windows += window
    if (windows.length > keep) drop()
  }

  private def drop(): Unit = {
    lastForgotten = windows.removeHead().batchId
    dropped += 1
    windows.headOption.foreach(oldest => late.headMap(oldest.start).clear())
  }

  /** Adds late rows of a frame, which starts at `start`. Its windows may close later. */
  def addLate(start: Long, rows: Long): Unit =
    if (windows.headOption.forall(_.start <= start)) {
      newLate += start -> rows
      putLate(start, rows)
    }

  private def putLate(start: Long, rows: Long): Unit = {
    late.merge(start, rows, (one, more) => one + more)
    if (late.size > keep) late.pollFirstEntry(): Unit
  }

  /** Visits the windows, in the order in which they have closed, with the number of their late rows. */
  def foreach(visit: (ClosedWindow, Long) => Unit): Unit = windows.foreach { window =>
    visit(window, lateIn(window.start, window.end))
  }

  /** The late rows between two times, as far as they are known. */
  private[completeness] def lateIn(start: Long, end: Long): Long = {
    var rows = 0L
    late.subMap(start, end).values.forEach(count => rows += count)
    rows
  }

  /** Visits the windows that end after a time, the last one first. */
  private[completeness] def endingAfter(time: Long)(visit: ClosedWindow => Unit): Unit =
    windows.reverseIterator.takeWhile(_.end > time).foreach(visit)

  /** The time up to which windows have closed, which no later window ends at or before;
    * `Long.MinValue` if none has.
    */
  def closedUpTo: Long = reached

  /** Takes that all windows that end at a time or before have closed. */
  def closeUpTo(time: Long): Unit = reached = math.max(reached, time)

  /** The last batch of which windows have been forgotten; -1 if there is none. */
  def forgotten: Long = lastForgotten

  def save(out: DataOutput, whole: Boolean): Unit = {
    StateVersion.write(out, Version)
    out.writeBoolean(whole)
    out.writeLong(dropped)
    out.writeLong(lastForgotten)
    out.writeLong(reached)
    val (closed, missed) = if (whole) (windows, lateRows) else (newWindows, newLate.toSeq)
    out.writeInt(closed.length)
    closed.foreach(write(out, _))
    out.writeInt(missed.length)
    missed.foreach { case (start, rows) =>
      out.writeLong(start)
      out.writeLong(rows)
    }
    newWindows.clear()
    newLate.clear()
  }

  private def lateRows: Seq[(Long, Long)] = {
    val all = ArrayBuffer.empty[(Long, Long)]
    late.forEach((start, rows) => all += start -> rows: Unit)
    all.toSeq
  }

  private def write(out: DataOutput, window: ClosedWindow): Unit = {
    Seq(window.start, window.end, window.rows, window.batchId, window.closedAt)
      .foreach(out.writeLong)
    out.writeDouble(window.missing)
    out.writeByte(window.step)
  }

  /** Restores a whole record in place of the present state, or applies a later one. */
  def restore(in: DataInput): Unit = {
    StateVersion.read(in, "closed windows", Version)
    val isWhole = in.readBoolean()
    if (isWhole) {
      windows.clear()
      late.clear()
    }
    val before = in.readLong()
    val forgotten = in.readLong()
    reached = in.readLong()
    if (isWhole) dropped = before
    (0 until in.readInt()).foreach(_ => put(read(in)))
    (0 until in.readInt()).foreach(_ => putLate(in.readLong(), in.readLong()))
    while (dropped < before) drop() // under a limit of the run that wrote it
    lastForgotten = math.max(lastForgotten, forgotten)
    newWindows.clear()
    newLate.clear()
  }

  private def read(in: DataInput): ClosedWindow = ClosedWindow(
    in.readLong(),
    in.readLong(),
    in.readLong(),
    in.readLong(),
    in.readLong(),
    in.readDouble(),
    in.readByte().toInt
  )
}

private object ClosedWindows {
  private val Version = 2
}
