package io.eventtide.kernel.golden

import scala.collection.mutable

import io.eventtide.kernel.window._

/** The sessions of many keys under one watermark, over rows that are remembered. */
final class GoldenSessions(spec: SessionSpec) {
  private val buffers = new RowBuffers
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

  def restart(): Unit = sessions.mapValuesInPlace { (_, before) =>
    val sink = new ByteSink
    before.write(sink)
    val source = new ByteSource
    source.reset(sink.bytes, 0)
    val after = fresh()
    after.read(source)
    after
  }: Unit

  private def fresh(): Sessions = {
    val made = new Sessions(spec, buffers)
    made.begin()
    made
  }

  private def panes(next: Sessions => Boolean): List[GoldenPane] = {
    val all = List.newBuilder[GoldenPane]
    sessions.foreach { case (key, own) =>
      while (next(own)) {
        val inside = buffers(own.result).sorted.map(rows(_)).toList
        all += GoldenPane(key, own.start, own.end, inside)
      }
    }
    all.result()
  }
}

/** `session_window`: Jet's, whose windows come in no order. */
final class JetSessionsPlayer(config: GoldenArgs) extends GoldenPlayer {
  private val spec = SessionSpec(config.long("session_timeout"), profile = Profile.jet)
  private val sessions = new GoldenSessions(spec)

  def step(op: String, args: GoldenArgs): Any = op match {
    case "event" =>
      sessions.observe(args.text("key"), args.long("ts"), args): Unit
      Nil
    case "wm" =>
      val closed = sessions.advance(args.long("ts")).map(outputs)
      closed :+ List[Any]("wm", args.long("ts"))
    case "complete" => sessions.finish().map(outputs)
    case other => throw new UnknownStep(other)
  }

  private def outputs(pane: GoldenPane): List[Any] =
    List("win", pane.start, pane.end, pane.key, pane.sum("value"))
}
