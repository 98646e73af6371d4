package io.eventtide.kernel.golden

import scala.collection.mutable

import io.eventtide.kernel.window._

/** The sessions of many keys under one watermark, over rows that are remembered. */
final class GoldenSessions(spec: SessionSpec) {
  private val buffers = new ObjectBufferPool
  private val rows = mutable.Buffer.empty[GoldenArgs]
  private val sessions = mutable.LinkedHashMap.empty[String, Sessions]
  private var watermark = Option.empty[Long]

  /** True when the row is taken. */
  def observe(key: String, ts: Long, row: GoldenArgs): Boolean = {
    rows += row
    val own = sessions.getOrElseUpdate(key, fresh())
    own.judgeBy(watermark)
    own.add(ts, buffers.of(rows.length - 1))
  }

  def advance(at: Long): List[GoldenPane] = {
    watermark = (watermark ++ Some(at)).maxOption
    panes(_.next(watermark.get))
  }

  def finish(): List[GoldenPane] = panes(_.nextOfAll())

  def restart(): Unit = sessions.mapValuesInPlace((_, before) => copyOf(before)): Unit

  /** What is open, which stays so. */
  def open: List[GoldenPane] =
    sessions.toList.flatMap { case (key, own) => panes(key, copyOf(own), _.nextOfAll()) }

  private def copyOf(before: Sessions): Sessions = {
    val sink = new ByteSink
    before.write(sink)
    val source = new ByteSource
    source.reset(sink.bytes, 0)
    val after = fresh()
    after.read(source)
    after
  }

  private def fresh(): Sessions = {
    val made = new Sessions(spec, buffers)
    made.begin()
    made
  }

  private def panes(next: Sessions => Boolean): List[GoldenPane] =
    sessions.toList.flatMap { case (key, own) => panes(key, own, next) }

  private def panes(key: String, own: Sessions, next: Sessions => Boolean): List[GoldenPane] =
    Iterator
      .continually(next(own))
      .takeWhile(identity)
      .map { _ =>
        val inside = buffers(own.result).sorted.map(rows(_)).toList
        GoldenPane(key, own.start, own.end, inside)
      }
      .toList
}

/** `session_window`: Jet's, whose windows come in no order. */
final class JetSessionsPlayer(config: GoldenArgs) extends GoldenPlayer {
  private val spec = SessionSpec(config.long("session_timeout"), profile = Profile.jet)
  private val sessions = new GoldenSessions(spec)
  private val early = new EarlyClock(config)

  def step(op: String, args: GoldenArgs): Any = op match {
    case "event" =>
      sessions.observe(args.text("key"), args.long("ts"), args): Unit
      Nil
    case "wm" =>
      val closed = sessions.advance(args.long("ts")).map(JetWindows.output)
      closed :+ List[Any]("wm", args.long("ts"))
    case "complete" => sessions.finish().map(JetWindows.output)
    case "sleep" => early.sleep(args.long("ms"))
    case "early_tick" => early.results(sessions.open)
    case other => throw new UnknownStep(other)
  }
}

object JetSessionsPlayer {
  import Form._

  val words: Vocabulary = Vocabulary(
    fields("session_timeout" -> number) ++ JetWindows.informs ++ EarlyClock.words,
    answer = JetWindows.outputs
  )(
    Seq(
      "event" -> fields("ts" -> number, "key" -> text, "value" -> number),
      "wm" -> fields("ts" -> number),
      "complete" -> fields()
    ) ++ EarlyClock.steps: _*
  )
}
