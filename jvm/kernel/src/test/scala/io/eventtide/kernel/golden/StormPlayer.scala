package io.eventtide.kernel.golden

import scala.collection.mutable

import io.eventtide.kernel.rowwindow.WindowLength
import io.eventtide.kernel.time.Frame
import io.eventtide.kernel.watermark.{StormLag, Substreams}

/** `storm`: a case says at its end what came of all its steps. */
object StormScript {

  /** Plays a case by the engine over rows and, where length and slide are times, over frames too. */
  def play(golden: GoldenCase): Unit = {
    StormWords.check(golden)
    val config = GoldenArgs(golden.config)
    val expect = GoldenArgs(GoldenFiles.fieldsOf(golden.fields("expect")))
    if (expect.has("error")) refused(config)
    else if (expect.has("property")) property(config)
    else
      StormWindowing.all(config).foreach { windows =>
        val player = new StormPlayer(config, windows)
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
    if (!config.has("length_or_slide"))
      throw new GoldenWaiting("of the builder, which tests/spark/test_golden_storm.py plays")
    config.get("length_or_slide").asInstanceOf[List[Long]].foreach { value =>
      JetScript.refused(s"time $value")(WindowLength.Time(value))
      JetScript.refused(s"rows $value")(WindowLength.Rows(value.toInt))
    }
  }

  private def property(config: GoldenArgs): Unit =
    if (config.has("length_slide_seconds")) dense(config) else numbered(config)

  /** Each window, from the first with a row on, has the rows after its start and up to its end. */
  private def dense(config: GoldenArgs): Unit =
    for ((length, slide) <- pairs(config, "length_slide_seconds")) {
      val times = 100L to 60000L by 100L
      val watermark = times.last - config.long("lag_ms")
      val expect = (slide * 1000 until watermark by slide * 1000).map { end =>
        end -> times.filter(ts => ts > end - length * 1000 && ts <= end).toSet
      }
      val made = GoldenArgs(
        config.values ++ Map("streams" -> List("s1")) ++ sizes("ms", 1000, length, slide)
      )
      allWindows(s"length $length s, slide $slide s", made, times, expect)
    }

  /** Each window has the last so many events. */
  private def numbered(config: GoldenArgs): Unit =
    for ((length, slide) <- pairs(config, "length_slide_counts")) {
      val numbers = 1L to 4 * slide + 3
      val expect = (1L to numbers.last / slide).map { i =>
        i * slide -> (math.max(0L, i * slide - length) + 1 to i * slide).toSet
      }
      val made =
        GoldenArgs(
          Map[String, Any]("streams" -> List("s1"), "lag_ms" -> 0L) ++ sizes(
            "count",
            1,
            length,
            slide
          )
        )
      allWindows(s"length $length, slide $slide", made, numbers, expect)
    }

  private def allWindows(
      what: String,
      config: GoldenArgs,
      times: Seq[Long],
      expect: Seq[(Long, Set[Long])]
  ): Unit = StormWindowing.all(config).foreach { windows =>
    val player = new StormPlayer(config, windows)
    times.foreach(ts => player.step(0, row(ts)))
    player.step(0, GoldenArgs(Map("op" -> "tick")))
    JetScript.same(
      what,
      expect,
      player.windows.map(givenWindows => givenWindows.end -> givenWindows.ids)
    )
  }

  private def sizes(unit: String, by: Long, length: Long, slide: Long): Map[String, Any] =
    Map("length" -> Map(unit -> length * by), "slide" -> Map(unit -> slide * by))

  private def pairs(config: GoldenArgs, name: String): List[(Long, Long)] =
    config.get(name).asInstanceOf[List[List[Long]]].map(pair => (pair(0), pair(1)))

  private def row(ts: Long): GoldenArgs =
    GoldenArgs(Map("op" -> "event", "id" -> ts, "stream" -> "s1", "ts" -> ts))
}

/** Windows over streams, whose watermark is told on a tick. */
final class StormPlayer(config: GoldenArgs, engine: StormWindowing) {
  private val policy = new Substreams(StormLag(config.long("lag_ms")), Nil, None)
  config.get("streams").asInstanceOf[List[String]].foreach(policy.declare(_, 0))

  private var reached = Option.empty[Long]
  private val watermarks = mutable.Buffer.empty[(Int, Option[Long])]
  private val givenWindows = mutable.Buffer.empty[(Int, StormGiven)]
  private val late = mutable.Buffer.empty[(Int, Any)]
  private val accepted = mutable.Buffer.empty[GoldenArgs]

  def windows: Seq[StormGiven] = givenWindows.map(_._2).toSeq

  def step(at: Int, args: GoldenArgs): Unit = args.text("op") match {
    case "event" =>
      val stream = policy.indexOf(args.text("stream")).get
      policy.observe(0, stream, args.long("ts")): Unit
      if (reached.exists(args.long("ts") < _)) late += at -> args.get("id") else add(args)
    case "add" => add(args)
    case "watermark" => advance(at, args.long("ts"))
    case "tick" => tick(at)
    case other => throw new UnknownStep(other)
  }

  private def add(args: GoldenArgs): Unit = {
    accepted += args
    engine.add(args)
  }

  private def tick(at: Int): Unit = {
    val risen = policy.emitted.filter(now => reached.forall(now > _))
    watermarks += at -> risen
    risen.foreach(advance(at, _))
  }

  private def advance(at: Int, watermark: Long): Unit = {
    reached = Some(watermark)
    givenWindows ++= engine.advance(watermark).map(at -> _)
  }

  def outcome: Map[String, Any] = Map(
    "watermarks" -> watermarks.map { case (at, value) =>
      Map("step" -> at.toLong, "value" -> value.getOrElse[Any](null))
    }.toList,
    "windows" -> givenWindows.map { case (at, window) =>
      val start = window.start.getOrElse[Any](null)
      Map("step" -> at.toLong, "start" -> start, "end" -> window.end, "ids" -> window.ids)
    }.toList,
    "late" -> late.map { case (at, id) => Map("step" -> at.toLong, "id" -> id) }.toList,
    "pending" -> (accepted
      .filter(row => engine.mayBeShown(row.long("ts")))
      .map(_.get("id"))
      .toSet -- shown),
    "in_no_window" -> (accepted.filter(isOver).map(_.get("id")).toSet -- shown)
  )

  /** Whether the slide that the row is in has ended. */
  private def isOver(row: GoldenArgs): Boolean = {
    val slide = config.inside("slide")
    reached.exists(
      _ > (if (slide.has("ms")) Frame(slide.long("ms")).ceiling(row.long("ts")) else 0)
    )
  }

  private def shown: Set[Any] = windows.flatMap(_.ids).toSet
}

/** A window that was givenWindows; one of so many rows has no start. */
final case class StormGiven(start: Option[Long], end: Long, ids: Set[Any])
