package io.eventtide.spark.voltsp

import org.apache.spark.sql.DataFrame

import io.eventtide.spark.options.WindowConflicts.refuse
import io.eventtide.spark.options.{DurationText, OptionReader}
import io.eventtide.spark.planning.EventTimeExtractor
import io.eventtide.spark.{Eventtide, WatermarkPolicy, WindowBuilder}

/** Translates a VoltSP window to a window of `Eventtide.window`. */
private[voltsp] object VoltSPBinding {
  private val OfEventTime = Seq("watermark_strategy", "delay_window_close", "late_rule", "scope")
  private val NotOfCounts = Seq("delay_window_close", "late_rule", "scope", "max_rows_per_batch")

  def apply(window: VoltSPWindow, rows: DataFrame): WindowBuilder = {
    check(window)
    val timed = this.timed(window.time, rows)
    val keyed = if (window.keys.isEmpty) timed else timed.keyBy(window.keys: _*)
    val shaped = withIdleKeys(withKind(keyed, window), window.time)
    val profiled = if (window.kind.isCounted) shaped else shaped.profile("voltsp")
    val closing = window.options.filter { case (name, _) => name.startsWith("late") }
    val late = closing.foldLeft(profiled) { case (built, (name, value)) => built.set(name, value) }
    val handled = window.handler.filter(_ => window.time.extractor.isDefined)
    val counted = handled.foldLeft(late)(_.handledBy(_)).agg(window.aggregates.aggregates: _*)
    if (window.triggers.isEmpty) counted else counted.emit(window.triggers: _*)
  }

  private def timed(time: TimeConfig, rows: DataFrame): WindowBuilder =
    time.extractor match {
      case None => Eventtide.window(rows).processingTime()
      case Some(extractor) =>
        val found = extractor.over("event_time_extractor", rows, acceptsMillis = false)
        val named = found.name.fold {
          EventTimeExtractor.checkFree(rows, EventTimeExtractor.ExtractedColumn)
          rows.withColumn(EventTimeExtractor.ExtractedColumn, found.column)
        }(_ => rows)
        val column = found.name.getOrElse(EventTimeExtractor.ExtractedColumn)
        withClosing(scoped(Eventtide.window(named).eventTime(column, policy(time)), time), time)
    }

  private def scoped(builder: WindowBuilder, time: TimeConfig): WindowBuilder =
    time.values.get("scope") match {
      case Some("group") => builder.watermarkScope(time.scopeColumns: _*)
      case scope => builder.watermarkScope(scope.getOrElse("key"))
    }

  private def withClosing(builder: WindowBuilder, time: TimeConfig): WindowBuilder = {
    val delayed = time.values.get("delay_window_close").fold(builder)(builder.delay(_))
    val stepped =
      time.values.get("max_rows_per_batch").fold(delayed)(n => delayed.maxRowsPerBatch(n.toInt))
    time.values.get("late_rule").fold(stepped)(stepped.lateRule)
  }

  private def policy(time: TimeConfig): WatermarkPolicy = time.policy.getOrElse {
    if (time.values.get("watermark_strategy").contains(WatermarkStrategy.MAX_EVENT_TIME.name))
      WatermarkPolicy.maxEventTime
    else WatermarkPolicy.minEventTime
  }

  private def withKind(builder: WindowBuilder, window: VoltSPWindow): WindowBuilder = {
    def size(name: String) = window.sizes.getOrElse(
      name, {
        val what = if (window.kind.isCounted) "a number of rows" else "a duration"
        OptionReader.missing(name, s"$what, which a ${window.kind.name} needs")
      }
    )
    window.kind match {
      case WindowKinds.TumblingTime => builder.tumbling(size("window_span"))
      case WindowKinds.SlidingTime => builder.sliding(size("window_span"), size("slide"))
      case WindowKinds.TumblingCount => builder.byCount(size("window_span").toInt)
      case WindowKinds.SlidingCount =>
        builder.byCount(size("window_span").toInt, size("slide").toInt)
      case WindowKinds.Session =>
        val gap = window.time.values.getOrElse("idle_timeout", missingGap())
        DurationText.frame("idle_timeout", gap): Unit
        val longest =
          window.options
            .get("maximum_duration")
            .foldLeft(builder.session(gap))(_.maximumDuration(_))
        window.options.get("touching").foldLeft(longest)(_.touching(_))
    }
  }

  private def missingGap(): Nothing =
    OptionReader.missing("idle_timeout", "1ms or more: it is the gap of a session_window")

  private def withIdleKeys(builder: WindowBuilder, time: TimeConfig): WindowBuilder = {
    val clock =
      if (time.values.get("idle_timeout_clock").contains(TimeSource.EVENT_TIME.name)) "event_time"
      else "processing_time"
    val idle =
      time.values.get("idle_timeout").foldLeft(builder)(_.keyIdleTimeout(_, clock))
    val kept = time.values.get("key_ttl").foldLeft(idle)(_.keyTtl(_))
    time.values.get("heartbeat").foldLeft(kept)(_.heartbeat(_))
  }

  /** Rejects a window that lacks a setting, or whose settings contradict each other; the window that
    * is built checks the rest.
    */
  private def check(window: VoltSPWindow): Unit = {
    val values = window.time.values
    if (window.aggregates.aggregates.isEmpty)
      OptionReader.missing("aggregate_definition", "one aggregate or more")
    for (clock <- values.get("idle_timeout_clock") if !values.contains("idle_timeout")) {
      val problem = "has no effect without an idle_timeout"
      refuse("idle_timeout_clock", clock, problem, "both, or none of them", "Add withIdleTimeout")
    }
    if (window.time.extractor.isEmpty) checkProcessingTime(window)
    if (window.kind.isCounted)
      for (name <- NotOfCounts; value <- values.get(name)) {
        val problem = s"applies to time, and a ${window.kind.name} ends with a row"
        refuse(name, value, problem, s"$name of a time window", s"Remove $name")
      }
    for (late <- window.options.get("late") if late != "log" && window.handler.isDefined) {
      val problem = s"reads late rows from the log, but late '$late' writes none"
      val allowed = "exception_handler with late 'log'"
      refuse("exception_handler", "a function", problem, allowed, "Set late to 'log'")
    }
    for (strategy <- values.get("watermark_strategy") if window.time.policy.isDefined) {
      val problem = s"cannot be combined with the watermark_strategy $strategy"
      refuse("policy", window.time.policy.mkString, problem, "one of the two", "Remove one")
    }
  }

  /** Rejects event-time settings in processing time, where there is one clock and no late row. */
  private def checkProcessingTime(window: VoltSPWindow): Unit = {
    val values = window.time.values
    val clock = values.get("idle_timeout_clock").filter(_ == TimeSource.EVENT_TIME.name)
    val set = OfEventTime.map(name => name -> values.get(name)) ++ Seq(
      "policy" -> window.time.policy.map(_.toString),
      "idle_timeout_clock" -> clock,
      "late" -> window.options.get("late"),
      "late_to" -> window.options.get("late_to")
    )
    for ((name, value) <- set; one <- value) {
      val allowed = s"$name with an event_time_extractor"
      val fix = "Add withEventTimeExtractor('ts')"
      refuse(name, one, "needs an event_time_extractor", allowed, fix)
    }
  }
}
