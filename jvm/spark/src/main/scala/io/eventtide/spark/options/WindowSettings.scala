package io.eventtide.spark.options

import io.eventtide.kernel.window.{FrameWindowState, TimeRange, Trigger, WindowSpec}

/** One kind of windows as a user asked for it, validated. Times are in microseconds.
  *
  * @param kind
  *   what the user calls it
  * @param sizes
  *   how long windows are and where they start, as the user's options say
  * @param windows
  *   their delay is that after which a window can change no more
  * @param byKey
  *   None where keys have the time of the query, and none goes silent
  * @param panes
  *   None for one row a window, when it can change no more
  * @param emitted
  *   the triggers whose results say by which of them they are given; none where they do not
  * @param late
  *   what becomes of late rows
  */
final case class WindowSettings(
    kind: String,
    sizes: String,
    windows: WindowKind,
    byKey: Option[KeyedTimeSettings],
    panes: Option[PaneSettings],
    emitted: Seq[NamedTrigger],
    late: LateSettings
) {

  /** Whether each row is judged by its key, unless it is surely on time. */
  def isRowAtATime: Boolean =
    byKey.isDefined || emitted.nonEmpty || !isTimeWindow

  /** Whether windows are of time. */
  def isTimeWindow: Boolean = windows.isInstanceOf[WindowKind.ByTime]

  /** Whether windows are of so many rows. */
  def counts: Boolean = windows.isInstanceOf[WindowKind.ByCount]

  /** Storm's windows, if they are; their rows are kept one by one. */
  def storm: Option[WindowKind.ByStorm] = windows match {
    case storm: WindowKind.ByStorm => Some(storm)
    case _ => None
  }

  /** Whether there is something to know of a key that holds nothing. */
  def remembers: Boolean = counts || storm.isDefined

  /** Whether results are the rows of windows. */
  def emitsRows: Boolean = storm.exists(_.emitsRows)

  /** Whether each key, or each group of keys, has a watermark of its own. */
  def hasOwnTime: Boolean = byKey.exists(_.policy.isDefined)

  /** Whether the keys of a group have one watermark. */
  def hasGroups: Boolean = byKey.exists(_.isOfGroup)

  /** How many rows of a key are taken before its watermark moves. */
  def maxRowsPerStep: Int = byKey.fold(Int.MaxValue)(_.maxRowsPerStep)

  /** When windows give results whose rows come one by one. */
  def triggers: Seq[NamedTrigger] =
    if (emitted.nonEmpty) emitted
    else Seq(NamedTrigger("", panes.fold(Trigger.AtEnd)(_.trigger)))

  /** The windows of rows that are aggregated by frames before they come to their key. */
  def spec: WindowSpec = windows match {
    case WindowKind.ByTime(spec) => spec
    case other => throw new IllegalStateException(s"no frames: $other")
  }

  /** As `spec`, but for when windows give their result on time. */
  lazy val onTime: WindowSpec = spec.copy(delay = delay)

  /** The times of rows whose windows Spark can show: others are refused. */
  lazy val times: TimeRange = windows.times

  /** How long after its end a window gives its result on time. */
  def delay: Long = windows.delay - latenessMicros

  private def latenessMicros: Long = panes.fold(0L)(_.latenessMicros)

  /** In how many frames, at the least, so much time has passed that a window can change no more. */
  def latenessFrames: Long = {
    val shortest = spec.grid.start(1) - spec.grid.start(0)
    latenessMicros / math.max(1, shortest / 2) + 2
  }

  /** Whether results say what they are. */
  def hasPanes: Boolean =
    panes.isDefined || emitted.nonEmpty || byKey.exists(_.silence.timeout.isDefined)

  /** Whether something may be due by the clock. */
  def hasDeadlines: Boolean =
    triggers.exists(_.trigger.every.isDefined) || byKey.exists(_.hasDeadlines)

  /** By which windows close and keys are silent, where that is not the query's watermark alone. By
    * others, which another run may have, something else may be due.
    */
  def rules: String = byKey.fold("")(_.rules)

  /** All that may be other in another run, as text. */
  def choices: String = MutableOptionsCodec.write(this)

  /** The same windows by other choices, as `choices` said them. */
  def by(choices: String): WindowSettings = MutableOptionsCodec.read(choices, this)

  /** How long after one batch by the clock the next may be run: what is silent is looked for at
    * intervals, what was asked for at a time is given then.
    */
  def pollIntervalMicros: Long =
    if (triggers.exists(_.trigger.every.isDefined)) 0 else byKey.fold(0L)(_.pollIntervalMicros)

  /** Up to where a watermark closes, in the numbers in which what is due is kept. */
  def closedUpTo(watermark: Long): Long =
    if (isRowAtATime) watermark else onTime.closed(watermark)

  /** The lowest watermark that closes what is due there. */
  def closesAt(due: Long): Long =
    if (isRowAtATime || due == FrameWindowState.Never) due else onTime.closesAt(due)

  /** Whether the query's watermark makes rows late by each of its steps, as windows may want it. */
  def batchOnEveryAdvance: Boolean = !hasOwnTime && windows.onEveryAdvance

  /** As `closedUpTo`, for what can change no more. */
  def closedForGood(watermark: Long): Long =
    if (isRowAtATime) watermark else spec.closed(watermark)

  /** What saved state depends on: a checkpoint of another structure is refused. */
  def structure: Structure = Structure(
    "kind" -> kind,
    windows.structure(kind),
    Structure.length("delay", delay),
    Structure.length("allowed_lateness", latenessMicros),
    byKey.toSeq.flatMap(_.structure),
    Seq("results" -> panes.fold("one row a window")(_ => "panes")),
    Option.when(panes.exists(_.discards))("discarding" -> "true"),
    byRow,
    triggerStructure
  )

  // Windows of time are kept in another form where their rows come one by one.
  private def byRow: Option[(String, String)] =
    Option.when(isTimeWindow && isRowAtATime)(WindowSettings.RowSubstreamLookup -> "given")

  // What is kept of a key depends on which triggers there are, not on their numbers.
  private def triggerStructure: Option[(String, String)] =
    Option.when(isRowAtATime && triggers.exists(_.trigger.givesEarly)) {
      if (emitted.isEmpty) "early" -> "given" else "emit" -> emitted.map(_.name).mkString(", ")
    }
}

object WindowSettings {

  /** Whose watermark closes the windows of `choices`: "global", "key" or "group". */
  def scope(choices: String): String = MutableOptionsCodec.scope(choices)

  /** What makes the rows of windows of time come to their key one by one. */
  private val RowSubstreamLookup = "emit, idle_timeout or watermark_scope"
}

/** A trigger by the name that its results have. */
final case class NamedTrigger(name: String, trigger: Trigger)

/** What a window gives besides one row when it closes.
  *
  * @param latenessMicros
  *   for how long after it has given its result on time, a window takes rows and gives it again
  * @param earlyEveryMicros
  *   how long after a row a window gives an early pane
  * @param earlyRows
  *   after how many rows of its key it does so
  * @param hasCondition
  *   whether it does so when its results meet a condition
  * @param discards
  *   whether a pane has only the rows since the last one of its window
  */
final case class PaneSettings(
    latenessMicros: Long,
    earlyEveryMicros: Option[Long],
    earlyRows: Option[Int],
    hasCondition: Boolean,
    discards: Boolean
) {

  def givesEarly: Boolean = earlyEveryMicros.isDefined || earlyRows.isDefined || hasCondition

  /** The same as one trigger. */
  def trigger: Trigger =
    Trigger(atEnd = true, every = earlyEveryMicros, rows = earlyRows, onCondition = hasCondition)
}
