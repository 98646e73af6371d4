package io.eventtide.spark.options

import io.eventtide.kernel.InvalidArgument
import io.eventtide.kernel.window.{LateRule, Profile, WindowSpec}
import io.eventtide.spark.EventtideException
import io.eventtide.spark.late.{LateMode, LateSettings}

/** Turns the flat options of a window into settings.
  *
  * {{{
  *   kind=sliding  size=PT60S  slide=PT1S              tumbling has a size, cumulate size and step
  *   kind=tumbling size=P1M  time_zone=Europe/Berlin   days (P14D) or months (P12M) of a calendar
  *   offset=PT5S  origin=2024-01-01T00:00:00Z          where windows start
  *   profile=jet  late_rule=frame_closed            rules; each can be set alone
  *   delay=PT5S  allowed_lateness=PT1H                 how long a window stays open
  *   late=log  late_to=/data/late
  *   early.every=PT10S  early.rows=1000  updates=true  discarding=true
  * }}}
  *
  * Durations are ISO 8601 and become microseconds.
  */
private[spark] object WindowCodec {

  /** @param isLocal
    *   whether event times are those of a clock without a zone
    * @param hasCondition
    *   whether there is a condition by which early results are given
    */
  def window(
      values: Map[String, String],
      isLocal: Boolean,
      hasCondition: Boolean = false
  ): WindowSettings =
    try settings(values, isLocal, hasCondition)
    catch {
      case refused: InvalidArgument =>
        throw EventtideException("INVALID_WINDOW", "reason" -> refused.getMessage)
    }

  private def settings(
      values: Map[String, String],
      isLocal: Boolean,
      hasCondition: Boolean
  ): WindowSettings = {
    val options = new Options(values)
    val kind = options.choice("kind", Kinds.map(kind => kind -> kind)).getOrElse("")
    val frames = WindowFrames.read(kind, options, isLocal)
    val spec = WindowSpec(frames.grid, frames.shape, profile(options), delay(options))
    val panes = this.panes(options, hasCondition)
    val settings = WindowSettings(kind, sizes(values), spec, panes, late(options))
    options.refuseUnread()
    settings
  }

  private val Kinds = Seq("tumbling", "sliding", "cumulate")

  /** What says which windows there are, as it was written. */
  private def sizes(values: Map[String, String]): String =
    Seq("size", "slide", "step", "offset", "origin", "time_zone")
      .flatMap(option => values.get(option).map(value => s"$option=$value"))
      .mkString(", ")

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
