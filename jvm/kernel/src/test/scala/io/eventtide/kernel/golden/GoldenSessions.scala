package io.eventtide.kernel.golden

import io.eventtide.kernel.window._

/** `session_window`: Jet's, whose windows come in no order. */
final class JetSessionsPlayer(config: GoldenArgs) extends GoldenPlayer {
  private val sessions =
    GoldenPanes.ofSessions(SessionSpec(Some(config.long("session_timeout")), profile = Profile.jet))
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
