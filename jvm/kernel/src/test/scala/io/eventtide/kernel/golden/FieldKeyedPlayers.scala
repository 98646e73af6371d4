package io.eventtide.kernel.golden

import scala.collection.mutable

import io.eventtide.kernel.watermark.WithIngestionTime
import io.eventtide.kernel.window._

/** Sessions of the wider field: watermarks are given, or follow rows as in Kafka. */
final class FieldSessionsPlayer(config: GoldenArgs) extends GoldenPlayer {
  if (config.inside("window").get("kind") != "session")
    throw new GoldenWaiting("no sessions whose rows say their gaps yet")
  if (config.has("lateness") && config.get("lateness") != 0L)
    throw new GoldenWaiting("no allowed lateness of sessions yet")

  private val rowsMoveTime = config.has("grace")
  private val sessions = new GoldenSessions(FieldSessions.spec(config))
  private var top = Long.MinValue

  def step(op: String, args: GoldenArgs): Any = op match {
    case "event" => event(args.text("key"), args.long("ts"), args)
    case "watermark" => sessions.advance(args.long("at")).map(outputs)
    case "snapshot_restore" => sessions.restart(); Nil
    case other => throw new UnknownStep(other)
  }

  private def event(key: String, ts: Long, row: GoldenArgs): List[Any] = {
    val taken = sessions.observe(key, ts, row)
    val late = if (taken) Nil else List(Map("late" -> Map[String, Any]("key" -> key, "ts" -> ts)))
    top = math.max(top, ts)
    late ++ (if (rowsMoveTime) sessions.advance(top).map(outputs) else Nil)
  }

  private def outputs(pane: GoldenPane): Any = {
    val value = if (config.get("agg") == "count") pane.rows.length.toLong else pane.sum("value")
    Map[String, Any]("key" -> pane.key, "value" -> value, "window" -> List(pane.start, pane.end))
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
      window.long("gap"),
      profile = profile.copy(session = rules),
      delay = config.longOr("grace", 0)
    )
  }
}

/** Rows one gap apart, under each profile that the case names. */
object SessionBoundary {
  private val counts = Seq("one_session" -> 1, "two_sessions" -> 2)

  def play(golden: GoldenCase): Unit = {
    val expected = GoldenFiles.fieldsOf(golden.fields("final"))
    for {
      (name, count) <- counts
      profile <- Profile.all
      if GoldenFiles.fieldsOf(expected(name)).contains(profile.name)
    } JetScript.same(profile.name, count, sessionsOf(golden, profile.name))
  }

  private def sessionsOf(golden: GoldenCase, profile: String): Int = {
    val config = GoldenArgs(golden.config + ("profile" -> profile))
    val sessions = new GoldenSessions(FieldSessions.spec(config))
    golden.steps.map(GoldenArgs(_)).foreach { row =>
      sessions.observe(row.text("key"), row.long("ts"), row): Unit
    }
    sessions.finish().length
  }
}

/** Windows by the time at which rows come; a clock without rows closes them too. */
final class FieldByClockPlayer(config: GoldenArgs, deducts: Boolean) extends GoldenPlayer {
  private val spec = FieldWindows.spec(config)
  private val buffers = new RowBuffers
  private val rows = mutable.Buffer.empty[GoldenArgs]
  private val engine = new KeyedBatches[String](
    KeyRules(WithIngestionTime(), KeyRules.Together, Silence(None, keep = 0)),
    () => GoldenWindows.frames(spec, buffers, deducts)
  )
  private var clock = 0L

  def step(op: String, args: GoldenArgs): Any = op match {
    case "clock" =>
      clock = args.long("to")
      closed(engine.tick(clock)(_))
    case "event" =>
      rows += args
      val row = KeyedBatches.Row(args.text("key"), clock, buffers.of(rows.length - 1))
      closed(give => engine.batch(clock, Seq(row))(give): Unit)
    case other => throw new UnknownStep(other)
  }

  private def closed(run: (KeyedBatches.Pane[String] => Unit) => Unit): List[Any] = {
    val all = List.newBuilder[Any]
    run { pane =>
      val value = buffers(pane.buffer).map(rows(_).long("value")).sum
      all += Map[String, Any](
        "key" -> pane.key,
        "value" -> value,
        "window" -> List(pane.start, pane.end)
      )
    }
    all.result()
  }
}
