package io.eventtide.kernel.golden

import java.math.{BigDecimal, MathContext}

import scala.collection.mutable

import io.eventtide.kernel.golden.Form._
import io.eventtide.kernel.window._

/** Time windows of the wider field: watermarks are given, or follow rows as in Kafka and Quix. */
final class FieldWindowsPlayer(config: GoldenArgs, deducts: Boolean) extends GoldenPlayer {
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
    case "generate" => FieldScript.generated(args).toList.flatMap(event)
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
    val late = if (taken) Nil else List(FieldWindows.late(key, ts))
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
    val all = panes.map(FieldWindows.output(config, _))
    closed ++= all
    all
  }

  private def atTheEnd: Map[String, Any] = Map[String, Any](
    "dropped" -> dropped,
    "dropped_row_window_pairs" -> missed,
    "on_window_close_output" -> closed.toList,
    "kept_windows" -> windows.open.map(pane => List(pane.start, pane.end))
  ) ++ latenessAtTheEnd

  private def latenessAtTheEnd: Map[String, Any] =
    if (lateness.isEmpty) Map.empty
    else {
      val rows = new BigDecimal(lateness.length)
      val mean = new BigDecimal(lateness.sum).divide(rows, MathContext.DECIMAL128)
      Map("max_lateness" -> lateness.max, "avg_lateness" -> mean)
    }
}

/** The same with an allowed lateness: a row that is late gives its windows anew. */
final class FieldPanesPlayer(config: GoldenArgs, deducts: Boolean) extends GoldenPlayer {
  private val windows = GoldenPanes.ofFrames(
    FieldWindows.spec(config),
    deducts,
    config.long("lateness"),
    Seq(Trigger.AtEnd),
    config.get("accumulation") == "discarding"
  )

  def step(op: String, args: GoldenArgs): Any = op match {
    case "event" => event(args)
    case "generate" => FieldScript.generated(args).toList.flatMap(event)
    case "watermark" =>
      val panes =
        if (args.get("at") == "MAX") windows.finish() else windows.advance(args.long("at"))
      panes.map(FieldWindows.output(config, _))
    case "snapshot_restore" => windows.restart(); Nil
    case "eof" => windows.finish().map(FieldWindows.output(config, _))
    case other => throw new UnknownStep(other)
  }

  private def event(args: GoldenArgs): List[Any] = {
    val (key, ts) = (args.text("key"), args.long("ts"))
    windows.observe(key, ts, args) match {
      case Some(panes) => panes.map(FieldWindows.output(config, _))
      case None => List(FieldWindows.late(key, ts))
    }
  }
}

object FieldWindows {

  private val row = fields("key" -> text, "ts" -> number, "value" -> number)

  /** Steps that every window of the field knows. */
  private val steps = Seq(
    "event" -> row,
    FieldScript.generate,
    "snapshot_restore" -> fields(),
    "eof" -> fields()
  )

  private val watermark = "watermark" -> fields("at" -> number)
  private val clock = "clock" -> fields("to" -> number)
  private val clockAdvance = "clock_advance" -> fields("by" -> number)

  private val window = listOf(number)

  private val answer: Form = either(
    fields("key" -> text, "value" -> either(number, text), "window" -> window),
    fields("late" -> fields("key" -> text, "ts" -> number))
  )

  private val frames = fields(
    "kind" -> oneOf("tumbling", "sliding"),
    "size" -> number,
    "slide" -> number.optional,
    "offset" -> number.optional
  )

  /** Settings that go with every kind of windows. */
  val common: Fields = fields(
    "agg" -> oneOf("sum", "count", "concat").optional,
    "emit" -> oneOf("on_window_close").optional,
    "unit" -> remark
  )

  private val inEventTime = fields(
    "grace" -> number.optional,
    "time" -> oneOf("stream time of the partition", "stream time").optional,
    "trigger" -> oneOf("event_time").optional,
    "accumulation" -> oneOf("accumulating", "discarding").optional, // one result has all rows
    "variants" -> listOf(oneOf("scope=key", "scope=partition")).optional
  )

  val words: Vocabulary = Vocabulary(
    common ++ inEventTime ++ fields("window" -> frames, "lateness" -> oneOf(0L).optional),
    answer
  )(steps :+ watermark: _*)

  val ofPanes: Vocabulary = Vocabulary(
    common ++ fields(
      "window" -> frames,
      "lateness" -> number,
      "trigger" -> oneOf("event_time").optional,
      "accumulation" -> oneOf("accumulating", "discarding").optional
    ),
    answer
  )(steps :+ watermark: _*)

  private val session = fields(
    "kind" -> oneOf("session"),
    "gap" -> number,
    "touching_merges" -> flag.optional,
    "bounds" -> remark // of what a system names; deviations.txt lists who names it otherwise
  )

  val ofSessions: Vocabulary = Vocabulary(
    common ++ inEventTime ++ fields(
      "window" -> either(
        session ++ fields("kind" -> oneOf("session_dynamic"), "gap" -> RowGap.form),
        session
      ),
      "lateness" -> number.optional
    ) - "variants",
    answer
  )(steps :+ watermark: _*)

  val byClock: Vocabulary = Vocabulary(
    common ++ fields(
      "window" -> (frames ++ fields("time" -> oneOf("processing"))),
      "lateness" -> oneOf(0L).optional,
      "trigger" -> oneOf("processing_time").optional
    ),
    answer
  )("event" -> row, clock, clockAdvance, "eof" -> fields())

  val atEnd: Fields = fields(
    "dropped" -> number.optional,
    "dropped_row_window_pairs" -> number.optional,
    "max_lateness" -> number.optional,
    "avg_lateness" -> decimal.optional,
    "on_window_close_output" -> listOf(answer).optional,
    "kept_windows" -> listOf(window).optional
  )

  def output(config: GoldenArgs, pane: GoldenPane): Map[String, Any] =
    Map("key" -> pane.key, "value" -> value(config, pane), "window" -> List(pane.start, pane.end))

  private def value(config: GoldenArgs, pane: GoldenPane): Any = config.get("agg") match {
    case "count" => pane.rows.length.toLong
    case "concat" => pane.rows.map(_.long("ts")).mkString("+")
    case _ => pane.sum("value")
  }

  def late(key: String, ts: Long): Map[String, Any] =
    Map("late" -> Map[String, Any]("key" -> key, "ts" -> ts))

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
