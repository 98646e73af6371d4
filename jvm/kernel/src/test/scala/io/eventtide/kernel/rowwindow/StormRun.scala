package io.eventtide.kernel.rowwindow

import java.nio.charset.StandardCharsets.UTF_8
import java.util.BitSet

import scala.collection.mutable

import io.eventtide.kernel.window.{BlockStore, ByteSink, ByteSource}

/** A window that was given: its rows by their names, those that are new in it, and those that have
  * left since the one before.
  */
final case class StormPane(end: Long, rows: Seq[String], fresh: Set[String], expired: Set[String])

/** The windows of one key over rows that have names, kept in memory. Between two batches all of it is
  * saved, and read by another instance.
  */
final class StormRun(
    spec: RetainedRowSpec,
    limits: RowLimits,
    keepsLast: Boolean = true,
    countsAtOnce: Boolean = false
) {
  val rows = new MemoryArchive
  val waiting = new MemoryArchive
  private var saved = Option.empty[Array[Byte]]
  private val incoming = mutable.Buffer.empty[(String, Long)]
  private var dueNow = RetainedRowWindows.Never

  /** Whether it said that rows wait for their first window. */
  var isPending = false

  /** When the key said that it has something to do without rows. */
  def due: Long = dueNow

  def add(name: String, ts: Long): Unit = incoming += name -> ts

  /** The names of the rows that are in no window, and the windows that the watermark closes. */
  def advance(watermark: Option[Long]): (Seq[String], Seq[StormPane]) = run(_.open(watermark))

  def finish(): (Seq[String], Seq[StormPane]) = run(_.openAll())

  private def run(open: RetainedRowWindows => Unit): (Seq[String], Seq[StormPane]) = {
    val windows = RetainedRowWindows(spec, keepsLast, rows, waiting, limits, countsAtOnce)
    saved.fold(windows.begin()) { bytes =>
      val in = new ByteSource
      in.reset(bytes, 0)
      windows.read(in)
    }
    open(windows)
    val inNone =
      incoming.toSeq.filterNot { case (name, ts) => windows.add(ts, new Named(name)) }.map(_._1)
    incoming.clear()
    val panes = panesOf(windows)
    windows.evict()
    dueNow = windows.due
    isPending = windows.hasPending
    saved = Option.when(!windows.isEmpty) {
      val out = new ByteSink
      windows.write(out)
      out.bytes.take(out.position)
    }
    (inNone, panes)
  }

  private def panesOf(windows: RetainedRowWindows): Seq[StormPane] = {
    val panes = Seq.newBuilder[StormPane]
    var before: Option[Set[String]] = None
    while (windows.next()) {
      val was = before.getOrElse(names(windows, windows.before).toSet)
      val now = names(windows, windows.members)
      panes += StormPane(windows.end, now, now.toSet -- was, was -- now)
      before = Some(now.toSet)
    }
    panes.result()
  }

  private def names(windows: RetainedRowWindows, slots: BitSet): Seq[String] =
    Iterator
      .iterate(slots.nextSetBit(0))(slot => slots.nextSetBit(slot + 1))
      .takeWhile(_ >= 0)
      .map { slot =>
        windows.log.select(slot)
        new String(windows.log.bytes, windows.log.start, windows.log.length, UTF_8)
      }
      .toSeq
}

private final class Named(name: String) extends RowContent {
  private val bytes = name.getBytes(UTF_8)
  def length: Int = bytes.length
  def copyTo(into: Array[Byte], at: Int): Unit = bytes.copyToArray(into, at): Unit
}

/** Blocks in memory, which counts what is asked of it. */
final class MemoryArchive extends BlockStore {
  val blocks = mutable.LinkedHashMap.empty[Long, Array[Byte]]
  var reads = 0
  var bytesWritten = 0L

  def sink(): ByteSink = new ByteSink

  def write(block: Long, content: ByteSink): Unit = {
    bytesWritten += content.position
    blocks(block) = content.bytes.take(content.position)
  }

  def read(block: Long): ByteSource = {
    reads += 1
    val in = new ByteSource
    in.reset(blocks(block), 0)
    in
  }

  def remove(block: Long): Unit = if (blocks.remove(block).isEmpty)
    throw new NoSuchElementException(s"no block $block")
}
