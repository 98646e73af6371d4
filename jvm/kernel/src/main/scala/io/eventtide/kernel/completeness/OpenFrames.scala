package io.eventtide.kernel.completeness

import java.io.{DataInput, DataOutput}
import java.util.{TreeMap => JTreeMap}

import scala.jdk.CollectionConverters._

import io.eventtide.kernel.StateVersion
import io.eventtide.kernel.window.WindowSpec

/** The rows on time of the windows that have not closed, by frame.
  *
  *   - '''Guarantee:''' each window that has a row is closed once, with the number of its rows on time.
  *   - '''Edges:''' with more than `most` frames, or with incomplete counts, the frames so far are
  *     forgotten: their windows are not closed here.
  *   - '''Restart:''' format 1: the last closed boundary, the first frame that is known, and the
  *     frames, as times. A whole record has all frames, another one those of the batches since.
  *
  * @param most the highest number of frames
  */
final class OpenFrames(spec: WindowSpec, most: Int = OpenFrames.Most) {
  import OpenFrames._

  private val rows = new JTreeMap[Long, Long]
  private val unsaved = new JTreeMap[Long, Long]
  private var isForgetful = false // since the last save
  private var closedUpTo = Long.MinValue
  private var knownFrom = Long.MinValue

  // The rows of the frames below `summed`: each window shares frames with the one before.
  private var sum = 0L
  private var summed = Long.MinValue

  /** Adds the rows on time of a batch. */
  def add(batch: FrameCounts): Unit = {
    batch.foreach(add(_, _))
    if (batch.incomplete || rows.size > most) forget(batch.highest)
  }

  /** Adds late rows of a batch, so that the windows close that have no other rows. They count as zero
    * rows.
    */
  def addLate(batch: FrameCounts): Unit = {
    val first = spec.shape.startAfter(closedUpTo)
    batch.foreach((frame, _) => if (frame >= first && rows.size < most) add(frame, 0))
  }

  private def add(frame: Long, count: Long): Unit = if (frame >= knownFrom) {
    rows.merge(frame, count, (one, more) => one + more)
    unsaved.merge(frame, count, (one, more) => one + more)
    if (frame < summed) sum += count
  }

  private def forget(highest: Long): Unit = {
    val last = if (rows.isEmpty) highest else math.max(highest, rows.lastKey)
    knownFrom = math.max(knownFrom, last + 1)
    isForgetful = true
    rows.clear()
    sum = 0
  }

  /** Closes the windows that end at a boundary or before, in the order of their ends. */
  def close(boundary: Long)(closed: (Long, Long, Long) => Unit): Unit = {
    var end = nextEnd(closedUpTo)
    while (end.exists(_ <= boundary)) {
      end.foreach(closeOne(_)(closed))
      end = end.flatMap(nextEnd)
    }
    closedUpTo = math.max(closedUpTo, boundary)
    drop(spec.shape.startAfter(closedUpTo))
  }

  // The end of the next window that may have rows.
  private def nextEnd(after: Long): Option[Long] = Option.when(!rows.isEmpty) {
    math.max(spec.shape.endAfter(after), spec.shape.endAfter(rows.firstKey))
  }

  private def closeOne(end: Long)(closed: (Long, Long, Long) => Unit): Unit = {
    val start = spec.shape.start(end)
    drop(start)
    rows.subMap(summed, end).values.forEach(count => sum += count)
    summed = end
    if (start >= knownFrom && !rows.isEmpty && rows.firstKey < end) closed(start, end, sum)
  }

  private def drop(below: Long): Unit =
    while (!rows.isEmpty && rows.firstKey < below) {
      val gone = rows.pollFirstEntry()
      if (gone.getKey < summed) sum -= gone.getValue
    }

  def save(out: DataOutput, whole: Boolean): Unit = {
    val all = whole || isForgetful
    StateVersion.write(out, Version)
    out.writeBoolean(all)
    out.writeLong(timeOf(closedUpTo))
    out.writeLong(timeOf(knownFrom))
    val saved = if (all) rows else unsaved
    out.writeInt(saved.size)
    saved.asScala.foreach { case (frame, count) =>
      out.writeLong(timeOf(frame))
      out.writeLong(count)
    }
    unsaved.clear()
    isForgetful = false
  }

  /** Restores a whole record in place of the present state, or applies a later one. The shape and the
    * grid may have changed since.
    */
  def restore(in: DataInput): Unit = {
    StateVersion.read(in, "open frames", Version)
    if (in.readBoolean()) rows.clear()
    closedUpTo = frameOf(in.readLong())
    knownFrom = frameOf(in.readLong())
    (0 until in.readInt()).foreach { _ =>
      rows.merge(frameOf(in.readLong()), in.readLong(), (one, more) => one + more)
    }
    unsaved.clear()
    summed = Long.MinValue
    sum = 0
    drop(spec.shape.startAfter(closedUpTo))
  }

  private def timeOf(frame: Long): Long =
    if (frame == Long.MinValue) frame else spec.frames.start(frame)

  private def frameOf(time: Long): Long =
    if (time == Long.MinValue) time else spec.frames.index(time)
}

private object OpenFrames {
  private val Version = 1

  /** About 100 MiB. */
  private val Most = 1000000
}
