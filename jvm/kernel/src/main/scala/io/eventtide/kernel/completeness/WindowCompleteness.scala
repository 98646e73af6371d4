package io.eventtide.kernel.completeness

import java.io.{DataInput, DataOutput}

import scala.collection.mutable.ArrayBuffer

import io.eventtide.kernel.StateVersion
import io.eventtide.kernel.disorder.{DisorderHistogram, RecentDisorder}
import io.eventtide.kernel.window.WindowSpec

/** How complete the windows of a query are that its watermark closes: their rows on time, the rows
  * that came too late, and the rows that are expected to.
  *
  *   - '''Guarantee:''' depends on the batches and their order only.
  *   - '''Units:''' times are in the unit of the windows' grid.
  *   - '''Edges:''' expected rows are not a number until the disorder of a row is known.
  *   - '''Restart:''' format 1: the closed windows, the open frames, the disorder of the recent rows
  *     and the calibration of shares. A whole record has all of it, another one the batches since
  *     the last save.
  *   - '''Source:''' Eventtide.
  *
  * @param keep the highest number of closed windows
  * @param memory number of rows after which the disorder of earlier rows counts half
  */
final class WindowCompleteness(spec: WindowSpec, keep: Int, memory: Long) {
  import WindowCompleteness._

  private val open = new OpenFrames(spec)
  private val closed = new ClosedWindows(keep)
  private val recent = new RecentDisorder(memory)
  private val calibration = new ShareCalibration
  private val unsaved = ArrayBuffer.empty[DisorderHistogram]

  /** The expected shares of the windows that close in the next batch.
    *
    * @param reached the event time that has been reached before it
    */
  def sharesAt(reached: Long): WindowShares =
    new WindowShares(recent.rows.copied, calibration.copied, reached)

  /** Takes the rows of a batch, and then closes windows.
    *
    * @param disorder the disorder of its rows, which must not change afterwards
    */
  def observe(batch: ClosingBatch, rows: FrameRows, disorder: DisorderHistogram): Unit = {
    val shares = sharesAt(batch.reached)
    learn(rows)
    val missed = new RowsByTime(below = Long.MaxValue)
    rows.late.foreach((frame, count) => missed.add(spec.frames.start(frame), count))
    open.add(rows.onTime)
    batch.boundary.foreach { boundary =>
      open.close(boundary)((first, end, count) => add(batch, shares, missed, first, end, count))
      closed.closeUpTo(spec.grid.start(boundary))
    }
    open.addLate(rows.late)
    rows.late.foreach((frame, count) => closed.addLate(spec.frames.start(frame), count))
    if (disorder.rows > 0) {
      unsaved += disorder
      if (recent.add(disorder)) calibration.halve()
    }
  }

  // A row on time has missed the first of its sliding windows if they have closed. Late rows of
  // windows that are still open count when these close.
  private def learn(rows: FrameRows): Unit = {
    val missed = new RowsByTime(closed.closedUpTo)
    Seq(rows.onTime, rows.late).foreach { counts =>
      counts.foreach((frame, count) => missed.add(spec.frames.start(frame), count))
    }
    missed.lowest.foreach(closed.endingAfter(_) { window =>
      calibration.miss(window.step, missed.between(window.start, window.end))
    })
  }

  private def add(
      batch: ClosingBatch,
      shares: WindowShares,
      missed: RowsByTime,
      first: Long,
      boundary: Long,
      rows: Long
  ): Unit = {
    val (start, end) = (spec.grid.start(first), spec.grid.start(boundary))
    val missing = expected(rows, shares.missing(start, end))
    val step = shares.step(start, end)
    closed.add(ClosedWindow(start, end, rows, batch.id, batch.now, missing, step))
    calibration.close(step, rows)
    calibration.miss(step, closed.lateIn(start, end) + missed.between(start, end))
  }

  def save(out: DataOutput, whole: Boolean): Unit = {
    closed.save(out, whole) // first: readers need no more
    open.save(out, whole)
    calibration.save(out)
    StateVersion.write(out, Version)
    out.writeBoolean(whole)
    if (whole) recent.save(out)
    else {
      out.writeInt(unsaved.length)
      unsaved.foreach(_.save(out))
    }
    unsaved.clear()
  }

  /** Restores a whole record in a new instance, or applies a later one. */
  def restore(in: DataInput): Unit = {
    closed.restore(in)
    open.restore(in)
    calibration.restore(in)
    StateVersion.read(in, "completeness", Version)
    if (in.readBoolean()) recent.restore(in)
    else
      (0 until in.readInt()).foreach { _ =>
        val batch = new DisorderHistogram
        batch.restore(in)
        recent.add(batch)
      }
  }
}

object WindowCompleteness {
  private val Version = 1
  private val HighestShare = 0.999

  /** The number of rows that are missing if `rows` are the others. */
  private def expected(rows: Long, share: Double): Double = {
    val missing = math.min(share, HighestShare)
    rows * missing / (1 - missing)
  }
}

/** A batch that may close windows.
  *
  * @param now the clock's time
  * @param boundary the last boundary of windows that are closed; None if there is no watermark yet
  * @param reached the event time that had been reached before the batch
  */
final case class ClosingBatch(id: Long, now: Long, boundary: Option[Long], reached: Long)
