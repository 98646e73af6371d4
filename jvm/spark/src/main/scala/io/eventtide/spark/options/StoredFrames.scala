package io.eventtide.spark.options

import io.eventtide.kernel.time.{Frame, FrameGrid}
import io.eventtide.kernel.window.WindowSpec

/** The frames in the state of a window whose size or slide has changed on its checkpoint.
  *
  * @param from
  *   the first frame of which the state has all rows
  */
private[spark] final case class StoredFrames(grid: Frame, from: Long) {

  private def under(current: WindowSettings): WindowSettings = {
    val WindowSpec(Frame(slide, offset), shape, _, _) = current.spec: @unchecked
    val sizes = WindowSizes(slide * shape.frames, slide, offset)
    val spec = current.spec.copy(grid = grid, shape = sizes.over(this))
    current.copy(windows = WindowKind.ByTime(spec))
  }
}

/** The size of a window in its structure. If all sizes are multiples of the frames in the state,
  * and nothing else depends on them, the size may change from run to run.
  */
private[spark] object StoredFrames {
  private val Length = "frame"
  private val Offset = "frame_offset"
  private val From = "first_frame"
  private val OtherState = "other_state"

  /** The settings of a window whose query has other operators with state. Their watermarks may
    * differ, so the frames in the state are unknown.
    */
  val BesideOtherState: (String, String) = OtherState -> "true"

  /** The settings of a window over the frames in its state.
    *
    * @param stored
    *   its structure with its history
    */
  def settings(current: WindowSettings, stored: Structure): WindowSettings =
    of(stored).fold(current)(_.under(current))

  /** A window without its history. */
  def presentOf(window: Structure): Structure =
    window.without(Length, Offset, From, OtherState)

  /** The part of a window that no run on the state of `stored` may change. */
  def lastingOf(window: Structure): Structure =
    presentOf(window).without("kind" +: WindowSizes.Names: _*)

  /** The frames of a window of a checkpoint; None if its sizes have never changed. */
  def of(window: Structure): Option[StoredFrames] =
    for (length <- window.get(Length); from <- window.get(From)) yield {
      val offset = window.get(Offset).fold(0L)(Durations.micros)
      StoredFrames(Frame(Durations.micros(length), offset), from.toLong)
    }

  private def framesOf(stored: Structure): StoredFrames = of(stored).getOrElse {
    val sizes = WindowSizes.of(stored)
    StoredFrames(Frame(sizes.slide, sizes.offset), Long.MinValue)
  }

  /** Whether windows of these sizes consist of the frames of `stored`, and end only where its
    * windows may end. A window with another end would count as already emitted.
    */
  def fits(stored: Structure, window: Structure): Boolean = Seq(stored, window).forall { one =>
    WindowSizes.isFixed(one) && one.get(OtherState).isEmpty
  } && {
    val sizes = WindowSizes.of(window)
    sizes.isMadeOf(framesOf(stored).grid) && sizes.endsAmong(WindowSizes.of(stored))
  }

  /** The history of a window of a run on the state of `stored`.
    *
    * @param closed
    *   the last closed boundary of a grid; None if no window has closed
    */
  def after(
      stored: Structure,
      window: Structure,
      closed: FrameGrid => Option[Long]
  ): Seq[(String, String)] =
    if (changes(stored, window).isEmpty) history(of(stored))
    else {
      val before = framesOf(stored)
      val shape = WindowSizes.of(stored).over(before)
      val from = closed(before.grid).fold(before.from)(shape.startAfter)
      history(Some(before.copy(from = from)))
    }

  private def history(frames: Option[StoredFrames]): Seq[(String, String)] =
    frames.toSeq.flatMap { case StoredFrames(grid, from) =>
      Seq(Length -> Durations.inWords(grid.size)) ++ Structure.length(Offset, grid.offset) :+
        From -> from.toString
    }

  /** The differences between the sizes of `stored` and of `window`. */
  def changes(stored: Structure, window: Structure): Seq[(String, String, String)] =
    stored.only(WindowSizes.Names).differences(window.only(WindowSizes.Names))
}
