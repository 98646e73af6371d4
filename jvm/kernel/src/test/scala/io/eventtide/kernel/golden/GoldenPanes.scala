package io.eventtide.kernel.golden

import scala.collection.mutable

import io.eventtide.kernel.time.Clamped
import io.eventtide.kernel.window._

/** Windows that give another pane for each row within the allowed lateness, as it comes. */
final class GoldenPanes(spec: WindowSpec, lateness: Long, discards: Boolean, deducts: Boolean) {
  private val buffers = new ObjectBufferPool
  private val rows = mutable.Buffer.empty[GoldenArgs]
  private val rings = mutable.LinkedHashMap.empty[String, PanedRing]
  private var watermark = Option.empty[Long]

  /** The panes that a row gives at once, or None when it is late. */
  def observe(key: String, ts: Long, row: GoldenArgs): Option[List[GoldenPane]] = {
    rows += row
    val ring = rings.getOrElseUpdate(key, begun())
    val taken = ring.add(spec.frames.index(ts), buffers.of(rows.length - 1))
    Option.when(taken)(panes(key, ring, PaneBoundaries(closed, closed, last)))
  }

  def advance(at: Long): List[GoldenPane] = {
    val passed = closed
    watermark = (watermark ++ Some(at)).maxOption
    all(PaneBoundaries(passed, closed, last))
  }

  /** No more rows come: what is open gives its last pane. */
  def finish(): List[GoldenPane] =
    all(PaneBoundaries(closed, FrameWindowState.Never, FrameWindowState.Never)).sortBy(_.end)

  def restart(): Unit = rings.mapValuesInPlace { (_, before) =>
    val sink = new ByteSink
    before.write(sink)
    val source = new ByteSource
    source.reset(sink.bytes, 0)
    val after = made()
    after.read(source)
    after
  }: Unit

  private def closed: Long = watermark.fold(Long.MinValue)(spec.closed)

  private def last: Long =
    watermark.fold(Long.MinValue)(at => spec.closed(Clamped.subtract(at, lateness)))

  private def all(boundaries: PaneBoundaries): List[GoldenPane] = {
    val closing = rings.toList.flatMap { case (key, ring) => panes(key, ring, boundaries) }
    rings.filterInPlace((_, ring) => !ring.isEmpty)
    closing
  }

  private def panes(key: String, ring: PanedRing, boundaries: PaneBoundaries): List[GoldenPane] = {
    ring.give(boundaries, EarlyPanes.Never)
    Iterator
      .continually(ring.next())
      .takeWhile(identity)
      .map { _ =>
        val start = spec.grid.start(spec.shape.start(ring.end))
        val inside = buffers(ring.result).sorted.map(rows(_)).toList
        GoldenPane(key, start, spec.grid.start(ring.end), inside)
      }
      .toList
  }

  private def begun(): PanedRing = {
    val ring = made()
    ring.begin(closed, last)
    ring
  }

  private def made(): PanedRing = new PanedRing(
    spec.shape,
    buffers,
    FrameWindowState(spec.shape, buffers, deducts, _, blockSize = Int.MaxValue),
    PaneArchives(BlockStore.None, Some(BlockStore.None)),
    givesEarly = false,
    discards
  )
}
