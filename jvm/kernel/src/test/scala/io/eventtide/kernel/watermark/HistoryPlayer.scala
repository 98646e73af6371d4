package io.eventtide.kernel.watermark

import io.eventtide.kernel.golden.Form._
import io.eventtide.kernel.golden.{GoldenArgs, GoldenPlayer, GoldenUnknown, UnknownStep, Vocabulary}

/** `history.ring`: samples on a grid of the clock. */
final class HistoryPlayer(config: GoldenArgs) extends GoldenPlayer {
  private val history = new DelayLine(config.long("max_delay"), config.int("stored_samples"))

  def step(op: String, args: GoldenArgs): Any = op match {
    case "sample" =>
      sample(args.long("now"), args.long("value"))
      GoldenUnknown(history.released, history.value)
    case other => throw new UnknownStep(other)
  }

  private def sample(now: Long, value: Long): Unit =
    if (value == GoldenUnknown.number) history.tick(now) else history.sample(now, value)
}

object HistoryPlayer {
  val words: Vocabulary =
    Vocabulary(fields("max_delay" -> number, "stored_samples" -> number), answer = number)(
      "sample" -> fields("now" -> number, "value" -> number)
    )
}
