package io.eventtide.spark.options

import io.eventtide.kernel.window.{FrameWindowState, TimeRange, Trigger, WindowSpec}

/** The user's settings of one window operation, validated. Times are in microseconds.
  *
  * @param kind
  *   the user's name for the kind of windows
  * @param sizes
  *   the options for the length and start of windows, as the user wrote them
  * @param windows
  *   the kind of windows; after its delay a window can no longer change
  * @param byKey
  *   the time of keys; None if keys have the query's time and never become idle
  * @param emit
  *   when a window has results; None for one row per window, emitted when it can no longer change
  * @param late
  *   how late rows are handled
  */
final case class WindowSettings(
    kind: String,
    sizes: String,
    windows: WindowKind,
    byKey: Option[KeyedTimeSettings],
    emit: Option[EmitSettings],
    late: LateSettings
) {

  /** A summary for query plans, such as `sliding(1m, every=5s), late log`. */
  def summary: String = {
    val byEmission = emit.map(_ => "triggers")
    val scope = if (hasGroups) Some("a watermark per group") else perKey
    (Seq(s"$kind($sizes)") ++ scope ++ byEmission :+ late.mode.summary).mkString(", ")
  }

  private def perKey: Option[String] = Option.when(hasOwnTime)("a watermark per key")

  /** Whether lateness is decided for each row at its key, unless the row is certainly on time. */
  def isJudgedByKey: Boolean =
    byKey.isDefined || emit.isDefined || !isTimeWindow

  /** Whether windows are frame-based time windows. */
  def isTimeWindow: Boolean = windows.isInstanceOf[WindowKind.ByTime]

  /** Whether windows are count windows. */
  def isCountWindow: Boolean = windows.isInstanceOf[WindowKind.ByCount]

  /** Whether windows are sessions with a gap for each row. */
  def hasRowGaps: Boolean = windows match {
    case WindowKind.BySession(spec) => spec.gap.isEmpty
    case _ => false
  }

  /** Storm windows, whose rows are stored individually; None for other kinds. */
  def retainingRows: Option[WindowKind.RetainingRows] = windows match {
    case storm: WindowKind.RetainingRows => Some(storm)
    case _ => None
  }

  /** Whether a key has state to keep even if it holds no rows. */
  def remembers: Boolean = isCountWindow || retainingRows.isDefined

  /** Whether results are the rows of windows. */
  def emitsRows: Boolean = retainingRows.exists(_.emitsRows)

  /** Whether each key, or each group of keys, has its own watermark. */
  def hasOwnTime: Boolean = byKey.exists(_.policy.isDefined)

  /** Whether the keys of a group share one watermark. */
  def hasGroups: Boolean = byKey.exists(_.isPerGroup)

  /** The maximum number of rows of a key that are processed before its watermark moves. */
  def maxRowsPerStep: Int = byKey.fold(Int.MaxValue)(_.maxRowsPerStep)

  /** The triggers, in the order in which they emit a window. */
  def triggers: Seq[NamedTrigger] =
    emit.fold(Seq(NamedTrigger("", Trigger.AtEnd)))(_.triggers)

  /** The time windows; fails for other kinds. */
  def spec: WindowSpec = windows match {
    case WindowKind.ByTime(spec) => spec
    case other => throw new IllegalStateException(s"no frames: $other")
  }

  /** As `spec`, but with the delay of on-time results. */
  lazy val onTime: WindowSpec = spec.copy(delay = delay)

  /** The event times of rows whose windows Spark can display. Other rows are rejected. */
  lazy val times: TimeRange = windows.times

  /** The time from the end of a window until it emits its on-time result. */
  def delay: Long = windows.delay - latenessMicros

  /** The part of the windows' delay in which a closed window accepts rows and emits updates. */
  def latenessMicros: Long = emit.fold(0L)(_.latenessMicros)

  /** Whether a result has only the rows since the last result of its window. */
  def discards: Boolean = emit.exists(_.discards)

  /** Whether results have pane columns. */
  def hasPanes: Boolean =
    emit.isDefined || byKey.exists(_.idleness.timeout.isDefined)

  /** Whether processing-time timers may exist. */
  def hasProcessingTimers: Boolean =
    triggers.exists(_.trigger.every.isDefined) || byKey.exists(_.hasProcessingTimers)

  /** The options that close windows and make keys idle, as text; empty if only the query's
    * watermark closes windows, at each frame. A run with other timing options may have other
    * timers.
    */
  def timingOptions: String = byKey.fold(windows.spacing)(_.timingOptions)

  /** The minimum time between two batches that the clock starts. The search for idle keys runs at
    * intervals. A trigger with an interval fires at its time, so the minimum is 0.
    */
  def pollIntervalMicros: Long =
    if (triggers.exists(_.trigger.every.isDefined)) 0 else byKey.fold(0L)(_.pollIntervalMicros)

  /** Whether timers are boundaries of frames; otherwise they are watermarks. */
  def hasFrameTimers: Boolean = !isJudgedByKey

  /** The limit up to which a watermark fires timers: in microseconds, or a boundary if timers are
    * boundaries.
    */
  def closedUpTo(watermark: Long): Long =
    if (hasFrameTimers) onTime.closed(watermark) else watermark

  /** The lowest watermark that fires a timer at `due`. */
  def closesAt(due: Long): Long =
    if (!hasFrameTimers || due == FrameWindowState.Never) due else onTime.closesAt(due)

  /** Whether every advance of the query's watermark needs a batch, even if no window closes. */
  def batchOnEveryAdvance: Boolean = !hasOwnTime && windows.onEveryAdvance

  /** The settings that saved state depends on. A checkpoint with another structure is rejected. */
  def structure: Structure = Structure(
    "kind" -> kind,
    windows.structure(kind),
    Structure.length("delay", delay),
    Structure.length("allowed_lateness", latenessMicros),
    byKey.toSeq.flatMap(_.structure),
    Seq("results" -> emit.fold("one row a window")(_ => "panes")),
    Option.when(discards)("discarding" -> "true"),
    byRow,
    triggerStructure
  )

  // Row-at-a-time time windows have another state format.
  private def byRow: Option[(String, String)] =
    Option.when(isTimeWindow && isJudgedByKey)(WindowSettings.RowAtATime -> "given")

  // The state of a key has a record for each named trigger.
  private def triggerStructure: Option[(String, String)] =
    emit.map(_.triggers).filter(_.exists(_.trigger.isEarly)).map { early =>
      "emit" -> early.map(_.name).mkString(", ")
    }
}

object WindowSettings {

  /** The settings that make time windows row-at-a-time. */
  private[options] val RowAtATime = "emit, key_idle_timeout or watermark_scope"
}
