package io.eventtide.kernel.golden

import java.math.BigDecimal

import scala.collection.mutable

import io.eventtide.kernel.window._

/** Time windows of the wider field: watermarks are given, or follow rows as in Kafka and Quix. */
final class FieldWindowsPlayer(config: GoldenArgs, deducts: Boolean) extends GoldenPlayer {
  FieldWindows.check(config)

  private val spec = FieldWindows.spec(config)
  private val windows = new GoldenWindows(spec, deducts)
  private val rowsMoveTime = config.has("grace")
  private val byKey = config.get("variant") == "scope=key"
  private val tops = mutable.Map.empty[String, Long]
  private val closed = mutable.Buffer.empty[Any]
  private val lateness = mutable.Buffer.empty[Long]
  private var dropped = 0L
  private var missed = 0L

  def step(op: String, args: GoldenArgs): Any = op match {
    case "event" => event(args)
    case "watermark" => outputs(advance(args))
    case "snapshot_restore" => windows.restart(); Nil
    case "eof" => outputs(windows.finish())
    case "final" => atTheEnd
    case other => throw new UnknownStep(other)
  }

  private def event(args: GoldenArgs): List[Any] = {
    val (key, ts) = (args.text("key"), args.long("ts"))
    missed += windowsMissed(key, ts)
    val taken = windows.observe(key, ts, args)
    if (!taken) dropped += 1
    val late = if (taken) Nil else List(Map("late" -> Map[String, Any]("key" -> key, "ts" -> ts)))
    late ++ (if (rowsMoveTime) follow(key, ts) else Nil)
  }

  private def windowsMissed(key: String, ts: Long): Long = {
    val frame = spec.frames.index(ts)
    val boundary = windows.watermark(key).fold(Long.MinValue)(spec.closed)
    (frame + 1 to spec.shape.lastEnd(frame)).count(_ <= boundary).toLong
  }

  /** The highest time so far, of the key or of all, is the watermark. */
  private def follow(key: String, ts: Long): List[Any] = {
    val scope = if (byKey) key else "all"
    tops(scope) = math.max(ts, tops.getOrElse(scope, ts))
    lateness += tops(scope) - ts
    outputs(if (byKey) windows.advance(key, tops(scope)) else windows.advance(tops(scope)))
  }

  private def advance(args: GoldenArgs): List[GoldenPane] =
    if (args.get("at") == "MAX") windows.finish() else windows.advance(args.long("at"))

  private def outputs(panes: List[GoldenPane]): List[Any] = {
    val all = panes.map { pane =>
      Map("key" -> pane.key, "value" -> value(pane), "window" -> List(pane.start, pane.end))
    }
    closed ++= all
    all
  }

  private def value(pane: GoldenPane): Any = config.get("agg") match {
    case "count" => pane.rows.length.toLong
    case "concat" => pane.rows.map(_.long("ts")).mkString("+")
    case _ => pane.sum("value")
  }

  private def atTheEnd: Map[String, Any] = Map(
    "dropped" -> dropped,
    "dropped_row_window_pairs" -> missed,
    "max_lateness" -> lateness.max,
    "avg_lateness" -> new BigDecimal(lateness.sum).divide(new BigDecimal(lateness.length)),
    "on_window_close_output" -> closed.toList,
    "kept_windows" -> windows.open.map(pane => List(pane.start, pane.end))
  )
}

object FieldWindows {

  /** What the engine has not learnt yet; the case waits for it. */
  def check(config: GoldenArgs): Unit = {
    def waits(what: String): Nothing = throw new GoldenWaiting(s"no $what yet")
    val window = config.inside("window")
    if (window.get("kind") == "global") waits("triggers")
    if (config.get("trigger").isInstanceOf[Map[_, _]]) waits("early panes")
    if (config.has("lateness") && config.get("lateness") != 0L) waits("allowed lateness")
  }

  def spec(config: GoldenArgs): WindowSpec = {
    val window = config.inside("window")
    val slide = window.longOr("slide", window.long("size"))
    val windows = SlidingWindow(window.long("size"), slide, window.longOr("offset", 0))
    WindowSpec(
      windows.frame,
      Sliding(Math.toIntExact(windows.size / windows.slide)),
      Profile.all.find(_.name == config.text("profile")).getOrElse(Profile.eventtide),
      config.longOr("grace", 0)
    )
  }
}
