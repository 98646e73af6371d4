package io.eventtide.kernel.golden

import scala.collection.mutable

import io.eventtide.kernel.watermark._
import io.eventtide.kernel.window._

/** `voltsp`: what is expected of each step stands in a list of its own. */
object VoltScript {
  def play(golden: GoldenCase, deducts: Boolean): Unit = {
    val player = new VoltPlayer(GoldenArgs(golden.config), deducts)
    val expects = golden.fields("expect").asInstanceOf[List[Any]].map(GoldenFiles.fieldsOf)
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

/** Keys, each with a policy of its own that is told the accepted rows of a batch. */
final class VoltPlayer(config: GoldenArgs, deducts: Boolean) {
  private val times = config.inside("time_config")
  private val delay = times.longOr("delay_window_close_ms", 0)
  private val engine = new GoldenWindows(VoltPlayer.spec(config, delay), deducts)
  private val policy: PolicySpec = times.get("watermark_strategy") match {
    case "MAX_EVENT_TIME" => MaxEventTime()
    case _ => MinEventTime()
  }
  private val policies = mutable.LinkedHashMap.empty[String, WatermarkPolicy]

  def step(args: GoldenArgs): Map[String, Any] = args.text("op") match {
    case "batch" => batch(args.get("events").asInstanceOf[List[Any]].map(GoldenFiles.fieldsOf))
    case other => throw new UnknownStep(other)
  }

  /** Rows are judged by the watermark before the batch, which then moves by those accepted. */
  private def batch(events: List[Map[String, Any]]): Map[String, Any] = {
    val rows = events.map(GoldenArgs(_))
    val (accepted, late) =
      rows.partition(row => engine.observe(row.text("key"), row.long("ts"), row))
    val emitted = accepted.groupBy(_.text("key")).toList.flatMap { case (key, own) =>
      moved(key, own.map(_.long("ts")))
    }
    answer(emitted, late)
  }

  private def moved(key: String, times: Seq[Long]): List[GoldenPane] = {
    val own = policies.getOrElseUpdate(key, policy.create())
    own.observe(0, times.max, times.min)
    engine.advance(key, own.watermark)
  }

  private def answer(emitted: List[GoldenPane], late: List[GoldenArgs]): Map[String, Any] = {
    val watermarks = policies.keys.flatMap(key => engine.watermark(key).map(key -> _)).toMap
    Map(
      "watermark" -> watermarks.values.headOption.orNull,
      "effective" -> watermarks.values.headOption.map(_ - delay).orNull,
      "watermarks" -> watermarks,
      "open" -> engine.open.map(shown).toSet,
      "emitted" -> emitted.map(shown).toSet,
      "late" -> late.map(_.get("id")).toSet
    )
  }

  private def shown(pane: GoldenPane): Any = pane.bounds + ("key" -> pane.key)
}

object VoltPlayer {
  def spec(config: GoldenArgs, delay: Long): WindowSpec = {
    val times = config.inside("time_config")
    if (times.get("time_source") == "PROCESSING_TIME")
      throw new GoldenWaiting("no windows in processing time yet")
    if (times.has("idle_timeout_ms")) throw new GoldenWaiting("no idle timeouts of keys yet")
    val rule = times.get("lateness_rule")
    val lateRule = LateRule.all.find(_.name == rule).getOrElse(Profile.voltsp.lateRule)
    val windows = slides(config.inside("window"))
    val frames = Math.toIntExact(windows.size / windows.slide)
    WindowSpec(windows.frame, Sliding(frames), Profile.voltsp.copy(lateRule = lateRule), delay)
  }

  private def slides(window: GoldenArgs): SlidingWindow = window.text("type") match {
    case "tumbling" => SlidingWindow.tumbling(window.long("span_ms"))
    case "sliding" => SlidingWindow(window.long("span_ms"), window.long("slide_ms"))
    case "session" => throw new GoldenWaiting("no session windows yet")
    case other if other.contains("count") => throw StormPlayer.noCounts
    case other => throw new GoldenMismatch(s"unknown windows: $other")
  }
}
