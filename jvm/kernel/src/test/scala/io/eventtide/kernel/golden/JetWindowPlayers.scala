package io.eventtide.kernel.golden

import scala.collection.mutable

import io.eventtide.kernel.window._

/** `sliding_window`: rows, or partial sums of frames, of one instance. */
final class JetWindowsPlayer(config: GoldenArgs, deducts: Boolean) extends GoldenPlayer {
  private val windows = new GoldenWindows(JetWindows.spec(config, Profile.jet), deducts)
  private val early = new EarlyClock(config)

  def step(op: String, args: GoldenArgs): Any = op match {
    case "event" => take(args, args.long("ts"))
    case "frame" => take(args, args.long("frame_end") - 1) // where the frame is named by its end
    case "wm" =>
      windows.advance(args.long("ts")).map(JetWindows.output) :+ List[Any]("wm", args.long("ts"))
    case "complete" => windows.finish().map(JetWindows.output)
    case "sleep" => early.sleep(args.long("ms"))
    case "early_tick" => early.results(windows.open.sortBy(_.end))
    case other => throw new UnknownStep(other)
  }

  private def take(args: GoldenArgs, ts: Long): Any = {
    windows.observe(args.text("key"), ts, args): Unit
    Nil
  }
}

object JetWindowsPlayer {
  import Form._

  private val row = fields("key" -> text, "value" -> number)

  val words: Vocabulary = Vocabulary(
    JetWindows.sizes ++ JetWindows.informs ++ EarlyClock.words,
    answer = JetWindows.outputs
  )(
    Seq(
      "event" -> (row ++ fields("ts" -> number)),
      "frame" -> (row ++ fields("frame_end" -> number)),
      "wm" -> fields("ts" -> number),
      "complete" -> fields()
    ) ++ EarlyClock.steps: _*
  )
}

/** When early results are given: at a tick, a period after the last one that gave any. */
final class EarlyClock(config: GoldenArgs) {
  private val period = config.longOr("early_results_period_ms", 0)
  private var now = 0L
  private var nextAt = Long.MinValue

  def sleep(ms: Long): Unit = now += ms

  /** Every open window, again each time. */
  def results(open: => Seq[GoldenPane]): Any = {
    if (!config.has("early_results_period_ms"))
      throw new GoldenWaiting("early_tick: no early_results_period_ms")
    if (period == 0 || now < nextAt) Nil
    else {
      nextAt = now + period
      open.map(JetWindows.output(_) :+ "early").toList
    }
  }
}

object EarlyClock {
  import Form._

  val words: Fields = fields("early_results_period_ms" -> number.optional)

  val steps: Seq[(String, Fields)] =
    Seq("sleep" -> fields("ms" -> number), "early_tick" -> fields())
}

/** `sliding_window.restore` and `session_window.restore`: what each saved instance knew.
  *
  * The next window of an instance is told by windows of one unit, whose ends are all watermarks.
  */
final class JetRestorePlayer(config: GoldenArgs, value: String, above: Long) extends GoldenPlayer {
  private val spec = WindowSpec(SlidingWindow.tumbling(1).frame, Sliding(1), Profile.jet)
  private val windows = new GoldenWindows(spec, deducts = false)
  private val watermarks = mutable.Buffer.empty[Long]

  def step(op: String, args: GoldenArgs): Any = op match {
    case "restore_broadcast" =>
      watermarks += args.long(value) - above
      windows.restore(watermarks.toSeq, config.text("guarantee") == "exactly-once")
    case "finish_restore" => ()
    case "read_state" => GoldenUnknown(windows.watermark("any").map(_ + above))
    case other => throw new UnknownStep(other)
  }
}

object JetRestorePlayer {
  import Form._

  def words(value: String): Vocabulary = Vocabulary(
    fields("guarantee" -> oneOf("exactly-once", "at-least-once"), "state" -> remark),
    answer = number
  )(
    "restore_broadcast" -> fields(value -> number),
    "finish_restore" -> fields(),
    "read_state" -> fields()
  )
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

object JetNewWindowPlayer {
  import Form._

  val words: Vocabulary = Vocabulary(
    fields(
      "before" -> JetWindows.sizes,
      "after" -> JetWindows.sizes,
      "timestamps" -> listOf(number),
      "wm_before_snapshot" -> number,
      "aggregate" -> oneOf("sum of ts")
    ),
    answer = listOf(tagged("win_end", number, text, number))
  )(
    "feed_then_wm_then_snapshot" -> fields(),
    "restore_into_new_window_and_complete" -> fields()
  )
}

object JetWindows {
  import Form._

  val sizes: Fields =
    fields("window_size" -> number, "slide_by" -> number, "frame_offset" -> number.optional)

  val informs: Fields = fields(
    "has_deduct" -> flag.optional, // each case is played both ways
    "input" -> remark,
    "compare" -> remark,
    "aggregate" -> oneOf("sum of value", "count (sum of value 1)").optional
  )

  val outputs: Form = listOf(
    either(
      tagged("wm", number),
      tagged("win", number, number, text, number),
      tagged("win", number, number, text, number, oneOf("early"))
    )
  )

  def output(pane: GoldenPane): List[Any] =
    List("win", pane.start, pane.end, pane.key, pane.sum("value"))

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
