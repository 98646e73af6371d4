package io.eventtide.spark.options

import java.time.temporal.ChronoUnit
import java.time.{Instant, LocalDate}

import scala.util.Try

import io.eventtide.kernel.InvalidArgument
import io.eventtide.kernel.time.Frame
import io.eventtide.kernel.window.{Cumulating, LateRule, Profile, Sliding, WindowShape, WindowSpec}
import io.eventtide.spark.EventtideException
import io.eventtide.spark.late.{LateMode, LateSettings}

/** Turns the flat options of a window into settings.
  *
  * {{{
  *   kind=sliding  size=PT60S  slide=PT1S              tumbling has a size, cumulate size and step
  *   offset=PT5S  origin=2024-01-01T00:00:00Z          where windows start
  *   profile=jet  late_rule=frame_closed  delay=PT5S  allowed_lateness=PT1H   rules; each can be set alone
  *   late=log  late_to=/data/late
  *   early.every=PT10S  early.rows=1000  updates=true  discarding=true
  * }}}
  *
  * Durations are ISO 8601 and become microseconds.
  */
private[spark] object WindowCodec {

  // Spark's watermark is in whole milliseconds: a shorter frame could not be told from the next.
  private val ShortestFrame = 1000L

  /** @param hasCondition
    *   whether there is a condition by which early results are given
    */
  def window(values: Map[String, String], hasCondition: Boolean): WindowSettings =
    try {
      val options = new Options(values)
      val made = settings(options, hasCondition)
      options.refuseUnread()
      made
    } catch {
      case refused: InvalidArgument =>
        throw EventtideException("INVALID_WINDOW", "reason" -> refused.getMessage)
    }

  private def settings(options: Options, hasCondition: Boolean): WindowSettings = {
    val kind = options.choice("kind", Kinds.map(kind => kind -> kind)).getOrElse("")
    val size = micros(options, "size")
    val step = kind match {
      case "tumbling" => size
      case "sliding" => micros(options, "slide")
      case _ => micros(options, "step")
    }
    val start = startsAt(options, if (kind == "cumulate") size else step)
    val frame = Frame(step, Math.floorMod(start, step))
    val spec = WindowSpec(frame, shape(kind, size, step, start), profile(options), delay(options))
    WindowSettings(kind, spec, panes(options, hasCondition), late(options))
  }

  private val Kinds = Seq("tumbling", "sliding", "cumulate")

  private def micros(options: Options, option: String): Long =
    options.duration(option, ShortestFrame).getOrElse {
      throw EventtideException(
        "MISSING_OPTION",
        "option" -> option,
        "allowed" -> "it says how long a window or its slide is"
      )
    }

  private def shape(kind: String, size: Long, step: Long, start: Long): WindowShape = {
    if (size % step != 0) throw notMultiple(size, step)
    val frames = size / step
    if (frames > WindowShape.MostFrames)
      throw new InvalidArgument("frames of a window", frames, s"at most ${WindowShape.MostFrames}")
    if (kind == "cumulate") Cumulating(frames.toInt, Math.floorDiv(start, step).toInt)
    else Sliding(frames.toInt)
  }

  private def notMultiple(size: Long, step: Long): EventtideException = {
    val below = size / step * step
    val nearest = Seq(below, below + step).filter(_ > 0).map(PolicyTree.duration)
    EventtideException(
      "WINDOW_NOT_MULTIPLE",
      "size" -> PolicyTree.duration(size),
      "step" -> PolicyTree.duration(step),
      "nearest" -> nearest.mkString(" or ")
    )
  }

  /** Where a window starts, from zero to one `period`. */
  private def startsAt(options: Options, period: Long): Long = {
    val offset = options.duration("offset", 0).getOrElse(0L)
    if (offset >= period) {
      throw new InvalidArgument(
        "offset",
        PolicyTree.duration(offset),
        s"below ${PolicyTree.duration(period)}, after which windows repeat"
      )
    }
    Math.floorMod(options.get("origin").fold(0L)(instant) + offset, period)
  }

  private def instant(text: String): Long =
    Try(ChronoUnit.MICROS.between(Instant.EPOCH, Instant.parse(text))).getOrElse {
      throw EventtideException(
        "INVALID_CHOICE",
        "option" -> "origin",
        "value" -> text,
        "allowed" -> s"an instant in ISO 8601, such as '${LocalDate.EPOCH}T00:00:00Z'"
      )
    }

  // Spark's watermark excludes its own time, whatever that of the profile's system does.
  private def profile(options: Options): Profile = {
    val named = options.choice("profile", Profile.all.map(profile => profile.name -> profile))
    val rule = options.choice("late_rule", LateRule.all.map(rule => rule.name -> rule))
    val chosen = named.getOrElse(Profile.eventtide)
    chosen.copy(lateRule = rule.getOrElse(chosen.lateRule), inclusive = false)
  }

  private def lateness(options: Options): Long =
    options.duration("allowed_lateness", 0).getOrElse(0L)

  // With final rows only, a window that may still change gives its row when it no longer can.
  private def delay(options: Options): Long =
    options.duration("delay", 0).getOrElse(0L) + lateness(options)

  private def panes(options: Options, hasCondition: Boolean): Option[PaneSettings] = {
    val every = options.duration("early.every", 1000)
    val rows = options.count("early.rows", 1)
    val updates = isOn(options, "updates")
    val discards = isOn(options, "discarding")
    if (hasCondition && discards) throw EventtideException("CONDITION_WITH_DISCARDING")
    val early = every.isDefined || rows.isDefined || hasCondition
    Option.when(early || updates) {
      PaneSettings(if (updates) lateness(options) else 0, every, rows, hasCondition, discards)
    }
  }

  private def isOn(options: Options, option: String): Boolean =
    options.choice(option, Seq("true" -> true, "false" -> false)).getOrElse(false)

  private def late(options: Options): LateSettings = {
    val mode = options.choice("late", LateMode.all.map(mode => mode.name -> mode))
    LateSettings(mode.getOrElse(LateMode.Log), options.get("late_to"))
  }
}
