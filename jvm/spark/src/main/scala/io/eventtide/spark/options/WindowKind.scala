package io.eventtide.spark.options

import io.eventtide.kernel.rows.{StormSpec, WindowLength}
import io.eventtide.kernel.time.Clamped
import io.eventtide.kernel.watermark.PolicySpec
import io.eventtide.kernel.window.{
  BlockStore,
  Buffers,
  CountSpec,
  CountWindows,
  FrameWindowState,
  FrameWindows,
  KeyIdleness,
  LateRule,
  Profile,
  SessionSpec,
  Sessions,
  TimeRange,
  WindowSet,
  WindowShape,
  WindowSpec
}

/** What decides where windows start and end. Times are in microseconds. */
sealed trait WindowKind {

  /** How many windows a row of that time is in, where that is known. */
  def windowsOf(ts: Long): Option[Int]

  /** The times of rows whose windows Spark can show: others are refused. */
  def times: TimeRange

  /** Which end of a window belongs to it, for people. */
  def bounds: String

  /** How long after its end a window closes. */
  def delay: Long

  def lateRule: LateRule

  /** Whether a step of the watermark that closes nothing makes rows late that come after it. */
  def onEveryAdvance: Boolean

  /** The lowest event time of results that are still to come at a watermark. */
  def resultsFrom(watermark: Long): Long

  /** What saved state depends on.
    *
    * @param kind
    *   what the user calls it
    */
  def structure(kind: String): Seq[(String, String)]
}

object WindowKind {

  /** Windows of rows that are put together as they come. */
  sealed trait Merged extends WindowKind {

    /** The windows of one key, for an operator that takes rows one by one. */
    def open(buffers: Buffers, deducts: Boolean): WindowSet
  }

  final case class ByTime(spec: WindowSpec) extends Merged {
    def open(buffers: Buffers, deducts: Boolean): WindowSet =
      new FrameWindows(spec, ring(spec.shape, buffers, deducts))

    def windowsOf(ts: Long): Option[Int] = Some(spec.windowsOf(ts))
    def times: TimeRange = spec.within(EventTimes.All)
    def delay: Long = spec.delay
    def lateRule: LateRule = spec.profile.lateRule
    def onEveryAdvance: Boolean = spec.profile.onEveryAdvance
    def bounds: String = spec.profile.bounds.name

    // No later than the last instant of the first window that is still to close.
    def resultsFrom(watermark: Long): Long =
      math.min(watermark, spec.grid.start(spec.closed(watermark) + 1) - 1)

    def structure(kind: String): Seq[(String, String)] =
      WindowFrames.write(kind, WindowFrames(spec.grid, spec.shape)) ++ rules(bounds, lateRule)
  }

  final case class BySession(spec: SessionSpec) extends Merged {
    def open(buffers: Buffers, deducts: Boolean): WindowSet = new Sessions(spec, buffers)

    def windowsOf(ts: Long): Option[Int] = Some(1)
    def times: TimeRange = spec.within(EventTimes.All)
    def delay: Long = spec.delay
    def lateRule: LateRule = spec.profile.session.lateRule
    def onEveryAdvance: Boolean = spec.profile.onEveryAdvance
    def bounds: String = "[first, last + gap)"
    def resultsFrom(watermark: Long): Long = math.min(watermark, spec.closed(watermark))

    def structure(kind: String): Seq[(String, String)] = {
      val touching = if (spec.profile.session.touchingMerges) "merge" else "separate"
      Seq("gap" -> Durations.inWords(spec.gap)) ++
        spec.maximum.map(most => "maximum_duration" -> Durations.inWords(most)) ++
        Seq("touching" -> touching, "late_rule" -> lateRule.name)
    }
  }

  final case class ByCount(spec: CountSpec) extends Merged {
    def open(buffers: Buffers, deducts: Boolean): WindowSet =
      new CountWindows(spec, ring(spec.shape, buffers, deducts))

    def windowsOf(ts: Long): Option[Int] = None
    def times: TimeRange = EventTimes.All
    def delay: Long = 0
    def lateRule: LateRule = LateRule.WindowClosed // no row is late
    def onEveryAdvance: Boolean = false
    def bounds: String = "rows by number"
    def resultsFrom(watermark: Long): Long = watermark

    def structure(kind: String): Seq[(String, String)] =
      Seq("rows" -> spec.size.toString, "every" -> spec.slide.toString)
  }

  /** Windows of rows that are kept one by one.
    *
    * @param handsOut
    *   whether a result is the rows of a window, for a function; else aggregates over them
    * @param isOfIngestion
    *   whether rows have the time at which they come, so that they count at once
    * @param rowsAtHand
    *   how many rows of a key are in memory at once
    */
  final case class ByStorm(
      spec: StormSpec,
      emitsRows: Boolean,
      isOfIngestion: Boolean,
      rowsAtHand: Int
  ) extends WindowKind {

    /** Whether a window has a start; one of so many rows has none. */
    def hasStart: Boolean = spec.length.isInstanceOf[WindowLength.Time]

    /** The start of the window that ends then, if it has one. */
    def startOf(end: Long): Long = spec.length match {
      case WindowLength.Time(length) => Clamped.subtract(end, length)
      case _: WindowLength.Rows => end
    }

    def slidesInTime: Boolean = spec.slide.isInstanceOf[WindowLength.Time]

    def windowsOf(ts: Long): Option[Int] = spec.windowsOf(ts)
    def times: TimeRange = spec.within(EventTimes.All)
    def bounds: String = Profile.storm.bounds.name
    def delay: Long = 0
    def lateRule: LateRule = Profile.storm.lateRule
    def onEveryAdvance: Boolean = Profile.storm.onEveryAdvance

    // A window that is still to come ends at the watermark or after it.
    def resultsFrom(watermark: Long): Long = watermark - 1

    def structure(kind: String): Seq[(String, String)] =
      Seq("length" -> text(spec.length), "slide" -> text(spec.slide)) ++ rules(bounds, lateRule) ++
        Option.when(isOfIngestion)("processing_time" -> "true") ++
        Option.when(emitsRows)("result" -> "rows")

    private def text(extent: WindowLength): String = extent match {
      case WindowLength.Time(micros) => Durations.inWords(micros)
      case WindowLength.Rows(count) => s"$count rows"
    }
  }

  private def rules(bounds: String, lateRule: LateRule): Seq[(String, String)] =
    Seq("bounds" -> bounds, "late_rule" -> lateRule.name)

  private def ring(shape: WindowShape, buffers: Buffers, deducts: Boolean): FrameWindowState =
    FrameWindowState(shape, buffers, deducts, BlockStore.None, blockSize = Int.MaxValue)
}

/** Which time a key has, where it is not simply that of the query.
  *
  * @param policy
  *   what moves the watermark of each key, or of each group of keys; None where it is the query's
  * @param isOfGroup
  *   whether the keys of a group have one watermark
  * @param heartbeatMicros
  *   how often the clock is looked at for what is silent, at the most
  * @param maxRowsPerStep
  *   of so many rows of a key, those after them count as of another batch
  */
final case class KeyedTimeSettings(
    policy: Option[PolicySpec],
    isOfGroup: Boolean,
    silence: KeyIdleness,
    heartbeatMicros: Long,
    maxRowsPerStep: Int
) {

  /** Whether something may be due by the clock. */
  def hasDeadlines: Boolean = !silence.inEventTime || policy.exists(_.movesWithClock)

  /** How often the clock is looked at: a watermark that follows it goes on by a second. */
  def pollIntervalMicros: Long =
    if (policy.exists(_.movesWithClock)) math.min(heartbeatMicros, 1000000L) else heartbeatMicros

  /** By which watermarks move, and keys are silent, as text. */
  def rules: String = KeyTimeCodec.write(this).mkString(" ")

  /** What saved state depends on: when a key was last seen is known by one clock. */
  def structure: Seq[(String, String)] = policy.toSeq.flatMap { own =>
    Seq("watermark_scope" -> (if (isOfGroup) "group" else "key"), "policy" -> own.structure)
  } ++ Option.when(silence.inEventTime)("clock of idle_timeout" -> "event_time")
}
