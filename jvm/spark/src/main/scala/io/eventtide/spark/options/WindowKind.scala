package io.eventtide.spark.options

import io.eventtide.kernel.rowwindow.{RetainedRowSpec, WindowLength}
import io.eventtide.kernel.time.Clamped
import io.eventtide.kernel.window.{
  BlockStore,
  Buffers,
  CountSpec,
  CountWindows,
  FrameArchive,
  FrameCombining,
  FrameWindowState,
  FrameWindows,
  LateRule,
  Profile,
  SessionSpec,
  Sessions,
  Sliding,
  TimeRange,
  WindowSet,
  WindowShape,
  WindowSpec
}

/** A kind of windows: defines where windows start and end. Times are in microseconds. */
sealed trait WindowKind {

  /** The number of windows that a row at `ts` belongs to; None if it is not known. */
  def windowsOf(ts: Long): Option[Int]

  /** The event times of rows whose windows Spark can display. Other rows are rejected. */
  def times: TimeRange

  /** The bounds of a window, for users: which of its ends are included. */
  def bounds: String

  /** The time from a window's end until it closes. */
  def delay: Long

  def lateRule: LateRule

  /** The lowest watermark at which a row of this time is late, if no other row is in its window.
    *
    * @param gap
    *   the session gap of the row, if each row has its own
    */
  def lateFrom(ts: Long, gap: Option[Long]): Long

  /** Whether every advance of the watermark may make later rows late, even if no window closes. */
  def onEveryAdvance: Boolean

  /** The lowest event time of results that may follow at a watermark. */
  def resultsFrom(watermark: Long): Long

  /** The frames at which windows end, as text; empty if windows end at all frames, or if there are
    * no frames.
    */
  def spacing: String = ""

  /** The settings that saved state depends on.
    *
    * @param kind
    *   the user's name for the kind
    */
  def structure(kind: String): Seq[(String, String)]
}

object WindowKind {

  /** Where the rows of one key are aggregated and stored.
    *
    * @param combining
    *   how frames are combined
    * @param archive
    *   the store of the key's closed frames that may still change
    */
  final case class KeyBuffers(
      buffers: Buffers,
      combining: FrameCombining,
      archive: FrameArchive
  ) {

    private[WindowKind] def newState(shape: WindowShape)(): FrameWindowState =
      FrameWindowState(shape, buffers, combining, BlockStore.None, blockSize = Int.MaxValue)
  }

  /** Windows whose rows are aggregated on arrival. */
  sealed trait Aggregating extends WindowKind {

    /** The windows of one key.
      *
      * @param lateness
      *   the part of the delay in which closed windows still accept rows
      */
    def open(key: KeyBuffers, lateness: Long): WindowSet
  }

  final case class ByTime(spec: WindowSpec) extends Aggregating {
    def open(key: KeyBuffers, lateness: Long): WindowSet =
      new FrameWindows(
        spec,
        key.buffers,
        key.newState(spec.shape) _,
        key.archive,
        lateness
      )

    def windowsOf(ts: Long): Option[Int] = Some(spec.windowsOf(ts))
    def times: TimeRange = spec.within(EventTimes.All)
    def delay: Long = spec.delay
    def lateRule: LateRule = spec.profile.lateRule
    def lateFrom(ts: Long, gap: Option[Long]): Long = spec.lateFrom(ts)
    def onEveryAdvance: Boolean = spec.profile.onEveryAdvance
    def bounds: String = spec.profile.bounds.name

    // At most the last instant of the first window that has not closed.
    def resultsFrom(watermark: Long): Long =
      math.min(watermark, spec.grid.start(spec.closed(watermark) + 1) - 1)

    override def spacing: String = spec.shape match {
      case Sliding(_, every, phase, _) if every > 1 => s"every $every frames from $phase"
      case _ => ""
    }

    def structure(kind: String): Seq[(String, String)] =
      WindowFrames.write(kind, WindowFrames(spec.grid, spec.shape)) ++ boundsAndLateRule(
        bounds,
        lateRule
      )
  }

  final case class BySession(spec: SessionSpec) extends Aggregating {
    def open(key: KeyBuffers, lateness: Long): WindowSet = new Sessions(spec, key.buffers, lateness)

    def windowsOf(ts: Long): Option[Int] = Some(1)
    def times: TimeRange = spec.within(EventTimes.All)
    def delay: Long = spec.delay
    def lateRule: LateRule = spec.profile.session.lateRule
    def lateFrom(ts: Long, gap: Option[Long]): Long = spec.lateFrom(ts, gap)
    def onEveryAdvance: Boolean = spec.profile.onEveryAdvance
    def bounds: String =
      if (spec.gap.isEmpty) "[first, highest time + gap)" else "[first, last + gap)"
    def resultsFrom(watermark: Long): Long = math.min(watermark, spec.closed(watermark))

    def structure(kind: String): Seq[(String, String)] = {
      val touching = if (spec.profile.session.touchingMerges) "merge" else "separate"
      Seq("gap" -> spec.gap.fold("of each row")(Durations.inWords)) ++
        spec.maximum.map(most => "maximum_duration" -> Durations.inWords(most)) ++
        Seq("touching" -> touching, "late_rule" -> lateRule.name)
    }
  }

  final case class ByCount(spec: CountSpec) extends Aggregating {
    def open(key: KeyBuffers, lateness: Long): WindowSet =
      new CountWindows(spec, key.newState(spec.shape) _)

    def windowsOf(ts: Long): Option[Int] = None
    def times: TimeRange = EventTimes.All
    def delay: Long = 0
    def lateRule: LateRule = LateRule.WindowClosed
    def lateFrom(ts: Long, gap: Option[Long]): Long = Long.MaxValue // no row is late
    def onEveryAdvance: Boolean = false
    def bounds: String = "rows by number"
    def resultsFrom(watermark: Long): Long = watermark

    def structure(kind: String): Seq[(String, String)] =
      Seq("rows" -> spec.size.toString, "every" -> spec.slide.toString)
  }

  /** Windows whose rows are stored individually.
    *
    * @param emitsRows
    *   whether a result is the rows of a window, for a function; otherwise aggregates over them
    * @param usesIngestionTime
    *   whether the event time of rows is their ingestion time, so that they count on arrival
    * @param rowsAtHand
    *   the maximum number of rows of a key in memory at the same time
    */
  final case class RetainingRows(
      spec: RetainedRowSpec,
      emitsRows: Boolean,
      usesIngestionTime: Boolean,
      rowsAtHand: Int
  ) extends WindowKind {

    /** Whether a window has a start. A window with a length in rows has none. */
    def hasStart: Boolean = spec.length.isInstanceOf[WindowLength.Time]

    /** The start of the window that ends at `end`; `end` itself if windows have no start. */
    def startOf(end: Long): Long = spec.length match {
      case WindowLength.Time(length) => Clamped.subtract(end, length)
      case _: WindowLength.Rows => end
    }

    def windowsOf(ts: Long): Option[Int] = spec.windowsOf(ts)
    def times: TimeRange = spec.within(EventTimes.All)
    def bounds: String = Profile.storm.bounds.name
    def delay: Long = 0
    def lateRule: LateRule = Profile.storm.lateRule
    def lateFrom(ts: Long, gap: Option[Long]): Long = Clamped.add(ts, 1)
    def onEveryAdvance: Boolean = Profile.storm.onEveryAdvance

    // Later windows end at the watermark or after it.
    def resultsFrom(watermark: Long): Long = watermark - 1

    def structure(kind: String): Seq[(String, String)] =
      Seq("length" -> text(spec.length), "slide" -> text(spec.slide)) ++ boundsAndLateRule(
        bounds,
        lateRule
      ) ++
        Option.when(usesIngestionTime)("processing_time" -> "true") ++
        Option.when(emitsRows)("result" -> "rows")

    private def text(extent: WindowLength): String = extent match {
      case WindowLength.Time(micros) => Durations.inWords(micros)
      case WindowLength.Rows(count) => s"$count rows"
    }
  }

  private def boundsAndLateRule(bounds: String, lateRule: LateRule): Seq[(String, String)] =
    Seq("bounds" -> bounds, "late_rule" -> lateRule.name)
}
