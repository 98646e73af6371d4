package io.eventtide.spark.options

import io.eventtide.kernel.InvalidArgument
import io.eventtide.kernel.watermark.PolicySpec
import io.eventtide.kernel.window.{CountSpec, LateRule, Profile, SessionSpec, WindowSpec}
import io.eventtide.spark.EventtideException

/** Parses the flat options of a window into settings.
  *
  * {{{
  *   kind=sliding  size=PT60S  slide=PT1S              tumbling has a size, cumulate size and step
  *   kind=tumbling size=P1M  time_zone=Europe/Berlin   calendar days (P14D) or months (P12M)
  *   offset=PT5S  origin=2024-01-01T00:00:00Z          where windows start
  *   profile=jet  late_rule=frame_closed            rules; each can be set separately
  *   delay=PT5S  allowed_lateness=PT1H                 the time that a window stays open
  *   kind=session  gap=PT5M  maximum_duration=PT1H  touching=merge
  *   kind=session  gap=column                       each row has its own gap
  *   kind=count  rows=100  slide=10
  *   kind=storm  length.time=PT20S  slide.rows=3       each in time or in rows
  *   result=rows  rows_in_memory=1000000               windows are emitted with their rows
  *   scope=key  key_idle_timeout=PT5M  key_idle_clock=event_time  key_ttl=PT24H  heartbeat=PT60S
  *   max_rows_per_batch=1                              with scope=key
  *   late=log  late_to=/data/late
  *   triggers=at_window_end,on_update,every,every_rows,when    when a window has results
  *   every=PT10S  every_rows=1000  discarding=true  late_updates=true    with triggers
  * }}}
  *
  * Durations are ISO 8601 and become microseconds.
  */
private[spark] object WindowCodec {

  /** @param policy
    *   the policy of the watermark
    * @param usesIngestionTime
    *   whether the event time of rows is their ingestion time
    * @param isLocal
    *   whether event times are local times, without a time zone
    * @param hasCondition
    *   whether a condition triggers early results
    */
  def window(
      values: Map[String, String],
      isLocal: Boolean,
      hasCondition: Boolean = false,
      policy: Option[PolicySpec] = None,
      usesIngestionTime: Boolean = false
  ): WindowSettings =
    try settings(values, isLocal, hasCondition, policy, usesIngestionTime)
    catch {
      case refused: InvalidArgument =>
        throw EventtideException("INVALID_WINDOW", "reason" -> refused.getMessage)
    }

  private def settings(
      values: Map[String, String],
      isLocal: Boolean,
      hasCondition: Boolean,
      policy: Option[PolicySpec],
      usesIngestionTime: Boolean
  ): WindowSettings = {
    val options = new OptionReader(values)
    val kind = options.choice("kind", Kinds.map(kind => kind -> kind)).getOrElse("")
    val settings = WindowSettings(
      kind,
      sizes(values),
      if (kind == "storm") RetainedRowCodec.read(options, usesIngestionTime)
      else windows(kind, options, isLocal),
      KeyTimeCodec.read(options, policy, remembers = kind == "count" || kind == "storm"),
      emit(options, hasCondition),
      late(options)
    )
    options.refuseUnread()
    if (settings.isCountWindow && settings.latenessMicros > 0)
      throw new InvalidArgument(
        "late_updates",
        "true",
        "left out: no row of a count window is late"
      )
    settings.retainingRows.foreach(_ => RetainedRowCodec.refuseOthers(settings))
    settings
  }

  private val Kinds = Seq("tumbling", "sliding", "cumulate", "session", "count", "storm")

  private def windows(kind: String, options: OptionReader, isLocal: Boolean): WindowKind =
    kind match {
      case "session" => WindowKind.BySession(session(options))
      case "count" =>
        val rows = options.count("rows", 1).getOrElse(missing("rows"))
        WindowKind.ByCount(CountSpec(rows, options.count("slide", 1).getOrElse(rows)))
      case _ =>
        val frames = WindowFrames.read(kind, options, isLocal)
        WindowKind.ByTime(WindowSpec(frames.grid, frames.shape, profile(options), delay(options)))
    }

  private def session(options: OptionReader): SessionSpec = {
    val gap =
      if (options.get("gap").contains("column")) None
      else Some(options.duration("gap", 1000).getOrElse(missing("gap")))
    val rules = profile(options)
    val touching = options.choice("touching", Seq("separate" -> false, "merge" -> true))
    val own = rules.session.copy(
      touchingMerges = touching.getOrElse(rules.session.touchingMerges),
      lateRule = if (options.get("late_rule").isDefined) rules.lateRule else rules.session.lateRule
    )
    val maximum = options.duration("maximum_duration", 1000)
    for (least <- gap; most <- maximum if most < least)
      WindowConflicts.refuse(
        "maximum_duration",
        Durations.inWords(most),
        "is shorter than the gap, so that no session could end by it",
        s"${Durations.inWords(least)} or more",
        "Use a longer duration, or none"
      )
    SessionSpec(gap, maximum, rules.copy(session = own), delay(options))
  }

  private def missing(option: String): Nothing =
    OptionReader.missing(option, "the length of a window")

  /** The options that define where windows start and end, as the user wrote them. */
  private def sizes(values: Map[String, String]): String =
    Seq("size", "rows", "slide", "step", "offset", "origin", "time_zone")
      .concat(Seq("gap", "maximum_duration", "touching"))
      .concat(RetainedRowCodec.Sizes)
      .flatMap(option => values.get(option).map(value => s"$option=$value"))
      .mkString(", ")

  // Spark's watermark excludes its own time, even if the profile's system includes it.
  private def profile(options: OptionReader): Profile = {
    val named = options.choice("profile", Profile.all.map(profile => profile.name -> profile))
    val rule = options.choice("late_rule", LateRule.all.map(rule => rule.name -> rule))
    val chosen = named.getOrElse(Profile.eventtide)
    chosen.copy(lateRule = rule.getOrElse(chosen.lateRule), inclusive = false)
  }

  private def lateness(options: OptionReader): Long =
    options.duration("allowed_lateness", 0).getOrElse(0L)

  // Without updates, a window emits its final row only when it can no longer change. The allowed
  // lateness therefore adds to the delay.
  private def delay(options: OptionReader): Long = {
    WindowConflicts.checkDelays(options)
    options.duration("delay", 0).getOrElse(0L) + lateness(options)
  }

  private def emit(options: OptionReader, hasCondition: Boolean): Option[EmitSettings] = {
    val (updates, discards) = (isOn(options, "late_updates"), isOn(options, "discarding"))
    val named = TriggerCodec.read(options, hasCondition)
    val triggers = if (named.isEmpty && (updates || discards)) TriggerCodec.atEnd else named
    Option.when(triggers.nonEmpty) {
      val emit = EmitSettings(triggers, if (updates) lateness(options) else 0, discards)
      if (emit.hasCondition && emit.discards) throw EventtideException("CONDITION_WITH_DISCARDING")
      WindowConflicts.checkPanes(emit, updates)
      emit
    }
  }

  private def isOn(options: OptionReader, option: String): Boolean =
    options.choice(option, Seq("true" -> true, "false" -> false)).getOrElse(false)

  private def late(options: OptionReader): LateSettings = {
    val mode = options.choice("late", LateMode.all.map(mode => mode.name -> mode))
    LateSettings(
      mode.getOrElse(LateMode.Log),
      options.get("late_to"),
      isOn(options, "on_late"),
      options.duration("late_retention", 1)
    )
  }
}
