package io.eventtide.kernel.golden

import scala.collection.mutable

import io.eventtide.kernel.golden.Form._
import io.eventtide.kernel.window._

/** Windows with early panes by the number of rows, as Beam shows them. */
final class BeamPanes(config: GoldenArgs, deducts: Boolean) extends GoldenPlayer {
  private val triggers = {
    val rows = config.inside("trigger").int("early_count")
    Seq(Trigger(atEnd = true, rows = Some(rows)))
  }
  private val windows = GoldenPanes.ofFrames(
    FieldWindows.spec(config),
    deducts,
    lateness = 0,
    triggers,
    discards = config.get("accumulation") == "discarding"
  )
  private val inTime = mutable.Map.empty[Long, Int] // panes that are not early, by window end

  def step(op: String, args: GoldenArgs): Any = op match {
    case "events" =>
      val rows = args.get("ts").asInstanceOf[List[Long]]
      windows.batch("all", rows.map(ts => ts -> GoldenArgs(Map("ts" -> ts))))._1.map(shown)
    case "watermark" => windows.advance(args.long("at")).map(shown)
    case other => throw new UnknownStep(other)
  }

  private def shown(pane: GoldenPane): Map[String, Any] =
    Map[String, Any](
      "window" -> List(pane.start, pane.end),
      "values" -> pane.rows.map(_.long("ts")),
      "timing" -> pane.timing.name,
      "index" -> pane.index.toLong
    ) ++ (if (pane.timing == PaneTiming.Early) Map.empty else closed(pane))

  private def closed(pane: GoldenPane): Map[String, Any] = {
    val before = inTime.getOrElse(pane.end, 0)
    inTime(pane.end) = before + 1
    Map("last" -> pane.isLast, "nonspeculative_index" -> before.toLong)
  }
}

object BeamPanes {
  private val pane = fields(
    "window" -> listOf(number),
    "values" -> listOf(number),
    "timing" -> oneOf(PaneTiming.all.map(_.name): _*),
    "index" -> number,
    "last" -> flag.optional,
    "nonspeculative_index" -> number.optional
  )

  val words: Vocabulary = Vocabulary(
    fields(
      "window" -> fields("kind" -> oneOf("tumbling"), "size" -> number),
      "trigger" -> fields("early_count" -> number, "on_time" -> oneOf(true)),
      "accumulation" -> oneOf("accumulating", "discarding"),
      "lateness" -> oneOf("suite default"),
      "bundles" -> remark
    ),
    answer = pane
  )("events" -> fields("ts" -> listOf(number)), "watermark" -> fields("at" -> number))
}
