package io.eventtide.kernel.golden

import scala.collection.mutable

import io.eventtide.kernel.time.Frame
import io.eventtide.kernel.watermark.Storm
import io.eventtide.kernel.watermark.Substreams
import io.eventtide.kernel.window._

/** `storm`: a case says at its end what came of all its steps. */
object StormScript {
  def play(golden: GoldenCase, deducts: Boolean): Unit = {
    val config = GoldenArgs(golden.config)
    val expect = GoldenArgs(GoldenFiles.fieldsOf(golden.fields("expect")))
    if (expect.has("error")) refused(config)
    else if (expect.has("property")) property(config, deducts)
    else {
      val player = new StormPlayer(config, deducts)
      golden.steps.zipWithIndex.foreach { case (step, at) => player.step(at, GoldenArgs(step)) }
      compare(expected(golden), player.outcome)
    }
  }

  /** What a case documents goes before what Storm does. */
  private def expected(golden: GoldenCase): Map[String, Any] = Seq("expect", "expect_documented")
    .flatMap(golden.fields.get)
    .map(GoldenFiles.fieldsOf)
    .reduce(_ ++ _)

  private def compare(expect: Map[String, Any], outcome: Map[String, Any]): Unit =
    expect.foreach { case (key, value) => JetScript.same(key, form(key, value), outcome(key)) }

  /** Ids have no order; of a window only what decides its content is compared. */
  private def form(key: String, value: Any): Any = value match {
    case all: List[_] if key == "pending" || key == "in_no_window" => all.toSet
    case all: List[_] if key == "windows" =>
      all.map { window =>
        val fields = GoldenFiles.fieldsOf(window) - "new" - "expired"
        fields + ("ids" -> fields("ids").asInstanceOf[List[Any]].toSet)
      }
    case other => other
  }

  private def refused(config: GoldenArgs): Unit = {
    if (!config.has("length_or_slide")) throw new GoldenWaiting("no builder of Storm's windows yet")
    config.get("length_or_slide").asInstanceOf[List[Long]].foreach { value =>
      JetScript.refused(s"length $value")(SlidingWindow(value, 1))
      JetScript.refused(s"slide $value")(SlidingWindow(10, value))
    }
  }

  /** Each window, from the first with a row on, has the rows after its start and up to its end. */
  private def property(config: GoldenArgs, deducts: Boolean): Unit = {
    if (!config.has("length_slide_seconds")) throw StormPlayer.noCounts
    for (case List(length: Long, slide: Long) <- pairs(config)) {
      val times = 100L to 60000L by 100L
      val player = new StormPlayer(made(length * 1000, slide * 1000, config), deducts)
      times.foreach(ts => player.step(0, row(ts)))
      player.step(0, GoldenArgs(Map("op" -> "tick")))
      val watermark = times.last - config.long("lag_ms")
      val expect = (slide * 1000 until watermark by slide * 1000).map { end =>
        end -> times.filter(ts => ts > end - length * 1000 && ts <= end).toSet
      }
      val answer = player.windows.map(pane => pane.end -> pane.ids)
      JetScript.same(s"length $length s, slide $slide s", expect, answer)
    }
  }

  private def pairs(config: GoldenArgs): List[Any] =
    config.get("length_slide_seconds").asInstanceOf[List[Any]]

  private def made(length: Long, slide: Long, config: GoldenArgs): GoldenArgs = GoldenArgs(
    config.values ++ Map(
      "length" -> Map("ms" -> length),
      "slide" -> Map("ms" -> slide),
      "streams" -> List("s1")
    )
  )

  private def row(ts: Long): GoldenArgs =
    GoldenArgs(Map("op" -> "event", "id" -> ts, "stream" -> "s1", "ts" -> ts))
}

/** Windows over streams, whose watermark is told on a tick.
  *
  * A slide that does not divide the length, as Storm allows, makes windows of smaller frames, of
  * which only those count that end with a slide.
  */
final class StormPlayer(config: GoldenArgs, deducts: Boolean) {
  private val length = StormPlayer.time(config.inside("length"))
  private val slide = StormPlayer.time(config.inside("slide"))
  private val frame = Frame(BigInt(length).gcd(slide).toLong)
  private val engine = new GoldenWindows(
    WindowSpec(frame, Sliding(Math.toIntExact(length / frame.size)), Profile.storm),
    deducts
  )
  private val policy = new Substreams(Storm(config.long("lag_ms")), Nil, None)
  config.get("streams").asInstanceOf[List[String]].foreach(policy.declare(_, 0))

  private val watermarks = mutable.Buffer.empty[(Int, Option[Long])]
  private val panes = mutable.Buffer.empty[(Int, GoldenPane)]
  private val late = mutable.Buffer.empty[(Int, Any)]
  private val accepted = mutable.Buffer.empty[GoldenArgs]

  def windows: Seq[GoldenPane] = panes.map(_._2).toSeq

  def step(at: Int, args: GoldenArgs): Unit = args.text("op") match {
    case "event" =>
      val stream = policy.indexOf(args.text("stream")).get
      policy.observe(0, stream, args.long("ts")): Unit
      add(at, args)
    case "add" => add(at, args)
    case "watermark" => advance(at, args.long("ts"))
    case "tick" => tick(at)
    case other => throw new UnknownStep(other)
  }

  private def add(at: Int, args: GoldenArgs): Unit =
    if (engine.observe("all", args.long("ts"), args)) accepted += args
    else late += at -> args.get("id")

  private def tick(at: Int): Unit = {
    val risen = policy.emitted.filter(now => engine.watermark("all").forall(now > _))
    watermarks += at -> risen
    risen.foreach(advance(at, _))
  }

  private def advance(at: Int, watermark: Long): Unit =
    panes ++= real(engine.advance(watermark)).map(at -> _)

  private def real(panes: List[GoldenPane]): List[GoldenPane] =
    panes.filter(pane => Math.floorMod(pane.end, slide) == 0)

  def outcome: Map[String, Any] = Map(
    "watermarks" -> watermarks.map { case (at, value) =>
      Map("step" -> at.toLong, "value" -> value.getOrElse[Any](null))
    }.toList,
    "windows" -> panes.map { case (at, pane) => pane.bounds + ("step" -> at.toLong) }.toList,
    "late" -> late.map { case (at, id) => Map("step" -> at.toLong, "id" -> id) }.toList,
    "pending" -> (real(engine.open).flatMap(_.ids).toSet -- shown),
    "in_no_window" -> (accepted.filter(isOver).map(_.get("id")).toSet -- shown)
  )

  private def shown: Set[Any] = windows.flatMap(_.ids).toSet

  /** Whether the slide that the row is in has ended. */
  private def isOver(row: GoldenArgs): Boolean =
    engine.watermark("all").exists(_ > Frame(slide).ceiling(row.long("ts")))
}

object StormPlayer {
  def noCounts: GoldenWaiting = new GoldenWaiting("no count windows yet")

  def time(lengthOrSlide: GoldenArgs): Long =
    if (lengthOrSlide.has("ms")) lengthOrSlide.long("ms") else throw noCounts
}
