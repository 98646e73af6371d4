package io.eventtide.kernel.golden

import scala.collection.mutable

import io.eventtide.kernel.window._

/** A window of a key that has come out or is open, with its rows in the order they came. */
final case class GoldenPane(
    key: String,
    start: Long,
    end: Long,
    rows: List[GoldenArgs],
    timing: PaneTiming = PaneTiming.OnTime,
    index: Int = 0,
    isLast: Boolean = true
) {
  def sum(name: String): Long = rows.map(_.long(name)).sum
  def ids: Set[Any] = rows.map(_.get("id")).toSet
  def bounds: Map[String, Any] = Map("start" -> start, "end" -> end, "ids" -> ids)
}

/** The engine over rows that are remembered, so that a window can say which are in it. */
final class GoldenWindows(val spec: WindowSpec, deducts: Boolean) {
  private val buffers = new ObjectBufferPool
  private val rows = mutable.Buffer.empty[GoldenArgs]
  private var engine = make()

  def watermark(key: String): Option[Long] = engine.watermark(key)

  /** True when the row is taken. */
  def observe(key: String, ts: Long, row: GoldenArgs): Boolean = {
    rows += row
    engine.observe(key, ts, buffers.of(rows.length - 1)).isEmpty
  }

  def advance(watermark: Long): List[GoldenPane] = panes(engine.advance(watermark))

  def advance(key: String, watermark: Long): List[GoldenPane] =
    panes(engine.advance(key, watermark))

  def finish(): List[GoldenPane] = panes(engine.finish)

  def open: List[GoldenPane] = panes(engine.open)

  /** Begins with what instances had saved, as far as they have a watermark. */
  def restore(watermarks: Seq[Long], exactly: Boolean): Unit = {
    engine = make()
    engine.restore(
      watermarks.map(at => InMemoryWindows.Saved(Some(at), Map.empty, Map.empty)),
      exactly
    )
  }

  def restart(): Unit = {
    val saved = engine.save()
    engine = make()
    engine.restore(Seq(saved), exactly = true)
  }

  private def make() = new InMemoryWindows[String](spec, buffers, deducts)

  private def panes(close: (InMemoryWindows.Pane[String] => Unit) => Unit): List[GoldenPane] = {
    val all = List.newBuilder[GoldenPane]
    close { pane =>
      val inside = buffers(pane.buffer).sorted.map(rows(_)).toList
      all += GoldenPane(pane.key, pane.start, pane.end, inside)
    }
    all.result()
  }
}

object GoldenWindows {

  /** Windows of frames, of which nothing is kept elsewhere. */
  def frames(spec: WindowSpec, buffers: Buffers, deducts: Boolean): FrameWindows =
    new FrameWindows(spec, buffers, state(spec.shape, buffers, deducts) _)

  def state(shape: WindowShape, buffers: Buffers, deducts: Boolean)(): FrameWindowState =
    FrameWindowState(shape, buffers, FrameCombining(deducts), BlockStore.None, Int.MaxValue)

  /** Plays a case with both ways to combine frames, whichever it was written for. */
  def both(play: Boolean => Unit): Unit = Seq(true, false).foreach(play)
}
