package io.eventtide.kernel.golden

import scala.collection.mutable

import io.eventtide.kernel.window._

/** `sliding_window`: rows, or partial sums of frames, of one instance. */
final class JetWindowsPlayer(config: GoldenArgs, deducts: Boolean) extends GoldenPlayer {
  if (config.has("early_results_period_ms")) throw new GoldenWaiting("no early panes yet")

  private val windows = new GoldenWindows(JetWindows.spec(config, Profile.jet), deducts)

  def step(op: String, args: GoldenArgs): Any = op match {
    case "event" => take(args, args.long("ts"))
    case "frame" => take(args, args.long("frame_end") - 1) // where the frame is named by its end
    case "wm" =>
      windows.advance(args.long("ts")).map(outputs) :+ List[Any]("wm", args.long("ts"))
    case "complete" => windows.finish().map(outputs)
    case other => throw new UnknownStep(other)
  }

  private def take(args: GoldenArgs, ts: Long): Any = {
    windows.observe(args.text("key"), ts, args): Unit
    Nil
  }

  private def outputs(pane: GoldenPane): List[Any] =
    List("win", pane.start, pane.end, pane.key, pane.sum("value"))
}

/** `sliding_window.restore`: the next window of each saved instance, windows of one unit. */
final class JetRestorePlayer(config: GoldenArgs) extends GoldenPlayer {
  private val spec = WindowSpec(SlidingWindow.tumbling(1).frame, Sliding(1), Profile.jet)
  private val windows = new GoldenWindows(spec, deducts = false)
  private val watermarks = mutable.Buffer.empty[Long]

  def step(op: String, args: GoldenArgs): Any = op match {
    case "restore_broadcast" =>
      watermarks += args.long("NEXT_WIN_TO_EMIT") - 1
      windows.restore(watermarks.toSeq, config.text("guarantee") == "exactly-once")
    case "finish_restore" => ()
    case "read_state" => GoldenUnknown(windows.watermark("any").map(_ + 1))
    case other => throw new UnknownStep(other)
  }
}

/** `sliding_window.restore_with_new_window`: frames of one window go on in another.
  *
  * Frames move up to the next end that the new windows have, and what ended before stays closed.
  * The kernel has no step of its own for this, since a query refuses such a checkpoint.
  */
final class JetNewWindowPlayer(config: GoldenArgs, deducts: Boolean) extends GoldenPlayer {
  private val before = JetWindows.spec(config.inside("before"), Profile.jet)
  // not Jet's late rule: a frame that is closed goes on in the windows that are open
  private val after = JetWindows.spec(config.inside("after"), Profile.eventtide)
  private val grids = Seq("before", "after").map(name => JetWindows.of(config.inside(name)).frame)
  private val old = new GoldenWindows(before, deducts)
  private val windows = new GoldenWindows(after, deducts)

  def step(op: String, args: GoldenArgs): Any = op match {
    case "feed_then_wm_then_snapshot" => feed()
    case "restore_into_new_window_and_complete" => restore(); complete()
    case other => throw new UnknownStep(other)
  }

  private def feed(): Unit = {
    config.get("timestamps").asInstanceOf[List[Long]].foreach { ts =>
      old.observe("key", ts, GoldenArgs(Map("ts" -> ts)))
    }
    old.advance(config.long("wm_before_snapshot")): Unit
  }

  private def restore(): Unit = {
    val nextEnd = grids.head.higher(config.long("wm_before_snapshot"))
    windows.advance(grids.last.floor(moved(nextEnd) - 1)): Unit
    for (row <- old.finish().flatMap(_.rows).distinct)
      windows.observe("key", moved(grids.head.higher(row.long("ts"))) - 1, row)
  }

  private def moved(end: Long): Long = grids.last.ceiling(end)

  private def complete(): Any =
    windows.finish().map(pane => List[Any]("win_end", pane.end, pane.key, pane.sum("ts")))
}

object JetWindows {
  def of(config: GoldenArgs): SlidingWindow = SlidingWindow(
    config.long("window_size"),
    config.long("slide_by"),
    config.longOr("frame_offset", 0)
  )

  def spec(config: GoldenArgs, profile: Profile): WindowSpec = {
    val SlidingWindow(size, slide, _) = of(config)
    WindowSpec(of(config).frame, Sliding(Math.toIntExact(size / slide)), profile)
  }

  /** Windows come by ascending end, but those that end together in no order. */
  def inOrderOfEnds(outputs: Any): Any = outputs match {
    case all: List[_] => all.map(endOf) -> all.groupBy(identity)
    case other => other
  }

  /** Sessions come in no order, and the watermark after them. */
  def inNoOrder(outputs: Any): Any = outputs match {
    case all: List[_] => all.lastOption -> all.groupBy(identity)
    case other => other
  }

  private def endOf(output: Any): Any = output match {
    case List("win", _, end, _*) => end
    case List("win_end", end, _*) => end
    case other => other
  }
}
