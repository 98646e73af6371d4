package io.eventtide.spark.options

import java.time.Period

import scala.util.Try

import io.eventtide.spark.EventtideException

/** Rejects settings of a window that contradict each other. The codecs check single values. */
private[spark] object WindowConflicts {
  private val Kinds =
    "tumbling, sliding or cumulate with a size, session with a gap, or count with rows"

  /** @param options
    *   the options that the user set, without the session's defaults
    * @param hasAggregates
    *   whether the window has aggregates
    * @param isByProcessingTime
    *   whether rows have the time of their batch in place of an event time
    */
  def check(
      options: Map[String, String],
      hasAggregates: Boolean,
      isByProcessingTime: Boolean
  ): Unit = {
    if (!options.contains("kind")) OptionReader.missing("kind", s"a kind of window: $Kinds")
    checkResult(options, hasAggregates)
    checkStarts(options)
    checkCalendar(options)
    if (isByProcessingTime) checkProcessingTime(options)
    checkKeys(options)
    checkLateRows(options)
  }

  private def checkResult(options: Map[String, String], hasAggregates: Boolean): Unit = {
    val passesRows = options.get("result").contains("rows")
    if (passesRows && hasAggregates) {
      val problem = "cannot be combined with aggregates"
      refuse("result", "rows", problem, "aggregates or a function, one of the two", "Remove one")
    }
    if (!passesRows && !hasAggregates)
      OptionReader.missing(
        "aggregates",
        "one aggregate or more, such as count(*) AS n"
      )
  }

  private def checkStarts(options: Map[String, String]): Unit =
    for (origin <- options.get("origin"); offset <- options.get("offset")) {
      val problem = s"sets the start of windows, as does the offset $offset"
      refuse("origin", origin, problem, "one of the two", "Remove offset")
    }

  private def checkCalendar(options: Map[String, String]): Unit = if (
    !options.contains("time_zone")
  )
    for (name <- Seq("size", "slide", "step"); text <- options.get(name) if isMonths(text)) {
      val problem = "is a calendar size, and no time zone is set"
      refuse(name, text, problem, "calendar sizes with a time zone", "Set a time zone, such as UTC")
    }

  private def isMonths(text: String): Boolean =
    Try(Period.parse(text)).toOption.exists(_.toTotalMonths != 0)

  private val OfEventTime =
    Seq("delay", "allowed_lateness", "late_rule", "late", "late_to", "late_retention", "on_late")

  private def checkProcessingTime(options: Map[String, String]): Unit = {
    for (name <- OfEventTime; value <- options.get(name)) {
      val problem = "is about late rows, and with processing_time no row is late"
      refuse(name, value, problem, s"$name with an event time", "Set an event time in its place")
    }
    options.get("scope").filter(_ != "global").foreach { scope =>
      val problem = "requires several watermarks, and with processing_time there is one clock"
      refuse("scope", scope, problem, "a scope with an event time", "Remove the scope")
    }
    options.get("key_idle_clock").filter(_ == "event_time").foreach { clock =>
      val problem = "needs an event time, and with processing_time rows have none"
      refuse("key_idle_clock", clock, problem, "processing_time", "Use the clock processing_time")
    }
  }

  private def checkKeys(options: Map[String, String]): Unit = {
    val scope = options.getOrElse("scope", "global")
    val hasTimeout = options.contains("key_idle_timeout")
    if (scope != "global" && options("kind") == "session" && !hasTimeout)
      OptionReader.missing(
        "key_idle_timeout",
        s"a duration of at least the gap; with the scope '$scope', the last session of a key would " +
          "stay open until its next row"
      )
    val remembers = Set("count", "storm").contains(options("kind"))
    if (scope == "global" && !hasTimeout && !remembers)
      for (name <- Seq("key_idle_clock", "key_ttl", "heartbeat"); value <- options.get(name)) {
        val problem = "applies only to keys that can become idle"
        val allowed = s"$name with key_idle_timeout, or with a scope by key"
        refuse(name, value, problem, allowed, "Set key_idle_timeout, such as 5m")
      }
  }

  private def checkLateRows(options: Map[String, String]): Unit =
    for {
      late <- options.get("late") if late != "log"
      (name, what) <- Seq(
        "late_to" -> "is a folder for late rows",
        "late_retention" -> "is a retention of late rows",
        "on_late" -> "reads late rows from the log"
      )
      value <- options.get(name)
    } refuse(
      name,
      value,
      s"$what, but late '$late' writes none",
      s"$name with late 'log'",
      "Set late to 'log'"
    )

  /** Rejects results that cannot differ. `options` include the session's defaults. */
  private[options] def checkPanes(emit: EmitSettings, updates: Boolean): Unit = {
    if (updates && emit.latenessMicros == 0) {
      val problem = "has nothing to update: no row may come after a window's result"
      val fix = "Set an allowed lateness, such as 1m"
      refuse("late_updates", "true", problem, "late_updates with an allowed lateness", fix)
    }
    if (emit.discards && !updates && emit.triggers.forall(_.name == "at_window_end")) {
      val problem = "has nothing to discard: a window has one result"
      val allowed = "discarding with a trigger before the end, or with late_updates"
      refuse("discarding", "true", problem, allowed, "Add a trigger, such as every 10s")
    }
  }

  /** Rejects two delays under the rules of another system. `options` include the session's defaults.
    */
  private[options] def checkDelays(options: OptionReader): Unit =
    for {
      profile <- options.get("profile") if profile != "eventtide"
      delay <- options.get("delay")
      lateness <- options.get("allowed_lateness")
    } {
      val problem = s"cannot be combined with a delay ($delay) under the profile $profile"
      val allowed = "both under the profile eventtide, one of the two under another"
      refuse("allowed_lateness", lateness, problem, allowed, "Remove delay")
    }

  def refuse(
      option: String,
      value: String,
      problem: String,
      allowed: String,
      fix: String
  ): Nothing = throw EventtideException(
    "SETTING_CONFLICT",
    "option" -> option,
    "value" -> value,
    "problem" -> problem,
    "allowed" -> allowed,
    "fix" -> fix
  )
}
