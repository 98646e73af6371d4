package io.eventtide.kernel.golden

import scala.collection.mutable

import io.eventtide.kernel.watermark._
import io.eventtide.kernel.window._

/** `voltsp`: what is expected of each step stands in a list of its own. */
object VoltScript {
  def play(golden: GoldenCase, deducts: Boolean): Unit = {
    VoltWords.check(golden)
    compare(golden, new VoltPlayer(GoldenArgs(golden.config), deducts), golden.fields("expect"))
    golden.fields.get("expect_alternative").map(GoldenFiles.fieldsOf).foreach { readings =>
      readings.foreach { case (reading, expected) =>
        val player = new VoltPlayer(GoldenArgs(golden.config), deducts, Some(reading))
        compare(golden, player, expected)
      }
    }
  }

  private def compare(golden: GoldenCase, player: VoltPlayer, expected: Any): Unit = {
    val expects = expected.asInstanceOf[List[Any]].map(GoldenFiles.fieldsOf)
    golden.steps.zipWithIndex.foreach { case (step, at) =>
      val answer = player.step(GoldenArgs(step))
      expects.filter(_("step") == at.toLong).foreach { expect =>
        (expect - "step").foreach { case (key, value) =>
          JetScript.same(s"step $at, $key", form(key, value), answer(key))
        }
      }
    }
  }

  private def form(key: String, value: Any): Any = key match {
    case "open" | "emitted" => value.asInstanceOf[List[Any]].map(window).toSet
    case "late" => value.asInstanceOf[List[Any]].toSet
    case _ => value
  }

  private def window(fields: Any): Any = {
    val all = GoldenFiles.fieldsOf(fields)
    all + ("ids" -> all("ids").asInstanceOf[List[Any]].toSet)
  }
}

/** Keys in their own time, batch after batch.
  *
  * @param reading another than ours of what the document says
  */
final class VoltPlayer(config: GoldenArgs, deducts: Boolean, reading: Option[String] = None) {
  private val times = config.inside("time_config")
  private val delay = times.longOr("delay_window_close_ms", 0)
  private val byClock = times.get("time_source") == "PROCESSING_TIME"
  private val buffers = new ObjectBufferPool
  private val rows = mutable.Buffer.empty[GoldenArgs]
  private val engine = new InMemoryBatches[String](
    VoltPlayer.rules(times, reading),
    VoltPlayer.windows(config, buffers, deducts)
  )
  private var clock = 0L

  def step(args: GoldenArgs): Map[String, Any] = args.text("op") match {
    case "batch" => batch(args.get("events").asInstanceOf[List[Any]].map(GoldenFiles.fieldsOf))
    case "heartbeat" =>
      clock = args.long("now")
      answer(panesOf(engine.tick(clock)(_)), Nil)
    case other => throw new UnknownStep(other)
  }

  private def batch(events: List[Map[String, Any]]): Map[String, Any] = {
    val all = events.map(GoldenArgs(_))
    clock = (clock :: all.map(_.longOr("arrival", clock))).max
    val made = all.map { row =>
      rows += row
      val ts = if (byClock) clock else row.longOr("ts", 0)
      InMemoryBatches.Row(row.text("key"), ts, buffers.of(rows.length - 1))
    }
    var late = Seq.empty[InMemoryBatches.Row[String]]
    val panes = panesOf(give => late = engine.batch(clock, made)(give))
    answer(panes, late.map(row => all(made.indexOf(row)).get("id")))
  }

  private type Give = (InMemoryBatches.Pane[String] => Unit) => Unit

  private def panesOf(run: Give): List[Map[String, Any]] = {
    val all = List.newBuilder[Map[String, Any]]
    run(pane => all += shown(pane))
    buffers.reset()
    all.result()
  }

  private def shown(pane: InMemoryBatches.Pane[String]): Map[String, Any] = {
    val ids = buffers(pane.buffer).map(rows(_).get("id")).toSet
    val shown =
      Map[String, Any]("key" -> pane.key, "start" -> pane.start, "end" -> pane.end, "ids" -> ids)
    if (pane.timing == PaneTiming.Idle) shown + ("reason" -> "idle") else shown
  }

  private def answer(panes: List[Map[String, Any]], late: Seq[Any]): Map[String, Any] = {
    val watermarks = engine.keys.flatMap(key => engine.watermark(key).map(key -> _)).toMap
    Map(
      "watermark" -> watermarks.values.headOption.orNull,
      "effective" -> watermarks.values.headOption.map(_ - delay).orNull,
      "watermarks" -> watermarks,
      "open" -> panesOf(engine.open).map(_ - "reason").toSet,
      "emitted" -> panes.toSet,
      "late" -> late.toSet
    )
  }
}

object VoltPlayer {

  /** Which time keys have, and when they are silent. */
  def rules(times: GoldenArgs, reading: Option[String] = None): KeyRules[String] = {
    val byClock = times.get("time_source") == "PROCESSING_TIME"
    val policy = times.get("watermark_strategy") match {
      case _ if byClock => WithIngestionTime()
      case "MAX_EVENT_TIME" => MaxEventTime()
      case _ =>
        reading.fold[PolicySpec](MinEventTime()) {
          case "late_events_count_in_min" => MinEventTimeOfAll()
          case other => throw new GoldenWaiting(s"unknown reading: $other")
        }
    }
    val timeout = Option.when(times.has("idle_timeout_ms"))(times.long("idle_timeout_ms"))
    val inEventTime = times.get("idle_timeout_clock") == "EVENT_TIME"
    val group = if (byClock) KeyRules.Together else None
    KeyRules(policy, group, KeyIdleness(timeout, ttl = Long.MaxValue, inEventTime))
  }

  def windows(config: GoldenArgs, buffers: Buffers, deducts: Boolean): WindowSet = {
    val times = config.inside("time_config")
    val window = config.inside("window")
    val delay = times.longOr("delay_window_close_ms", 0)
    val rule = times.get("lateness_rule")
    val lateRule = LateRule.all.find(_.name == rule).getOrElse(Profile.voltsp.lateRule)
    val profile =
      Profile.voltsp.copy(lateRule = lateRule, session = SessionRules(lateRule = lateRule))
    def sliding(slides: SlidingWindow) = {
      val shape = Sliding(Math.toIntExact(slides.size / slides.slide))
      GoldenWindows.frames(WindowSpec(slides.frame, shape, profile, delay), buffers, deducts)
    }
    window.text("type") match {
      case "tumbling" => sliding(SlidingWindow.tumbling(window.long("span_ms")))
      case "sliding" => sliding(SlidingWindow(window.long("span_ms"), window.long("slide_ms")))
      case "session" =>
        val maximum = Option.when(window.has("max_duration_ms"))(window.long("max_duration_ms"))
        new Sessions(SessionSpec(Some(window.long("gap_ms")), maximum, profile, delay), buffers)
      case "tumbling_count" =>
        val spec = CountSpec(window.int("max_events"), window.int("max_events"))
        new CountWindows(spec, GoldenWindows.state(spec.shape, buffers, deducts) _)
      case other => throw new GoldenWaiting(s"no windows $other")
    }
  }
}
