package io.eventtide.kernel.golden

import scala.collection.mutable

import io.eventtide.kernel.golden.Form._
import io.eventtide.kernel.watermark.WithIngestionTime
import io.eventtide.kernel.window._

/** Sessions of the wider field: watermarks are given, or follow rows as in Kafka. */
final class FieldSessionsPlayer(config: GoldenArgs) extends GoldenPlayer {
  private val rowsMoveTime = config.has("grace")
  private val sessions = GoldenPanes.ofSessions(
    FieldSessions.spec(config),
    config.longOr("lateness", 0),
    config.get("accumulation") == "discarding",
    FieldSessions.gapOf(config)
  )
  private var top = Long.MinValue

  def step(op: String, args: GoldenArgs): Any = op match {
    case "event" => event(args)
    case "generate" => FieldScript.generated(args).toList.flatMap(event)
    case "watermark" =>
      val closed =
        if (args.get("at") == "MAX") sessions.finish() else sessions.advance(args.long("at"))
      closed.map(FieldWindows.output(config, _))
    case "snapshot_restore" => sessions.restart(); Nil
    case "eof" => sessions.finish().map(FieldWindows.output(config, _))
    case other => throw new UnknownStep(other)
  }

  private def event(row: GoldenArgs): List[Any] = {
    val (key, ts) = (row.text("key"), row.long("ts"))
    val answer = sessions
      .observe(key, ts, row)
      .fold[List[Any]](List(FieldWindows.late(key, ts)))(_.map(FieldWindows.output(config, _)))
    top = math.max(top, ts)
    answer ++ (if (rowsMoveTime) sessions.advance(top).map(FieldWindows.output(config, _)) else Nil)
  }
}

object FieldSessions {

  def spec(config: GoldenArgs): SessionSpec = {
    val window = config.inside("window")
    val profile =
      Profile.all.find(_.name == config.text("profile")).getOrElse(Profile.eventtide)
    val touching =
      if (window.has("touching_merges")) window.get("touching_merges") == true
      else profile.session.touchingMerges
    val closesAbove = config.get("profile") == "kafka" || profile.session.closesAbove
    val rules = profile.session.copy(touchingMerges = touching, closesAbove = closesAbove)
    SessionSpec(
      Option.when(!isDynamic(config))(window.long("gap")),
      profile = profile.copy(session = rules),
      delay = config.longOr("grace", 0)
    )
  }

  /** The gap of a row, where a case has a gap for each. */
  def gapOf(config: GoldenArgs): GoldenArgs => Option[Long] =
    if (isDynamic(config)) row => RowGap.of(config.inside("window").text("gap"), row)
    else _ => None

  private def isDynamic(config: GoldenArgs): Boolean =
    config.inside("window").get("kind") == "session_dynamic"
}

/** Gaps as a case words them, such as `key1 -> 3000; key2 -> 1000 when value==10 else 2000`. */
object RowGap {
  private val rule = raw"(\w+) -> (?:(\d+) when value==(\d+) else )?(\d+)".r

  val form: Form = worded("a gap for each key, or two by the value") { text =>
    rules(text).forall(rule.matches)
  }

  private def rules(text: String): Seq[String] = text.split("; ").toSeq

  /** The gap of a row; None for a key without one. */
  def of(text: String, row: GoldenArgs): Option[Long] = rules(text).collectFirst {
    case rule(key, special, value, other) if key == row.text("key") =>
      if (value != null && value.toLong == row.long("value")) special.toLong else other.toLong
  }
}

/** Rows one gap apart, under each profile that the case names. */
object SessionBoundary {
  private val counts = Seq("one_session" -> 1, "two_sessions" -> 2)

  private val words: Vocabulary = Vocabulary(
    fields("window" -> fields("kind" -> oneOf("session"), "gap" -> number)),
    answer = remark
  )("event" -> fields("key" -> text, "ts" -> number, "value" -> number))

  private val atEnd =
    fields("one_session" -> anyObject, "two_sessions" -> anyObject, "warning" -> remark)

  def play(golden: GoldenCase): Unit = {
    words.checkFlat(golden, fields("final" -> atEnd), ofStep = Set.empty)
    val expected = GoldenFiles.fieldsOf(golden.fields("final"))
    for {
      (name, count) <- counts
      profile <- Profile.all
      if GoldenFiles.fieldsOf(expected(name)).contains(profile.name)
    } JetScript.same(profile.name, count, sessionsOf(golden, profile.name))
  }

  private def sessionsOf(golden: GoldenCase, profile: String): Int = {
    val config = GoldenArgs(golden.config + ("profile" -> profile))
    val sessions = GoldenPanes.ofSessions(FieldSessions.spec(config))
    golden.steps.map(GoldenArgs(_)).foreach { row =>
      sessions.observe(row.text("key"), row.long("ts"), row): Unit
    }
    sessions.finish().length
  }
}

/** Windows by the time at which rows come; a clock without rows closes them too. */
final class FieldByClockPlayer(config: GoldenArgs, deducts: Boolean) extends GoldenPlayer {
  private val spec = FieldWindows.spec(config)
  private val buffers = new ObjectBufferPool
  private val rows = mutable.Buffer.empty[GoldenArgs]
  private val engine = new InMemoryBatches[String](
    KeyRules(WithIngestionTime(), KeyRules.Together, KeyIdleness(None, ttl = 0)),
    GoldenWindows.frames(spec, buffers, deducts)
  )
  private var clock = 0L

  def step(op: String, args: GoldenArgs): Any = op match {
    case "clock" =>
      clock = args.long("to")
      closed(engine.tick(clock)(_))
    case "clock_advance" =>
      clock += args.long("by")
      closed(engine.tick(clock)(_))
    case "eof" => closed(engine.open(_))
    case "event" =>
      rows += args
      val row = InMemoryBatches.Row(args.text("key"), clock, buffers.of(rows.length - 1))
      closed(give => engine.batch(clock, Seq(row))(give): Unit)
    case other => throw new UnknownStep(other)
  }

  private def closed(run: (InMemoryBatches.Pane[String] => Unit) => Unit): List[Any] = {
    val all = List.newBuilder[Any]
    run { pane =>
      val inside = buffers(pane.buffer).sorted.map(rows(_)).toList
      all += FieldWindows.output(config, GoldenPane(pane.key, pane.start, pane.end, inside))
    }
    all.result()
  }
}
