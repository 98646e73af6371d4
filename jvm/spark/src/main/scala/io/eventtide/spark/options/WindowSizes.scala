package io.eventtide.spark.options

import io.eventtide.kernel.time.Frame
import io.eventtide.kernel.window.{Sliding, WindowShape}

/** The sizes of a tumbling or sliding window, in microseconds. */
private[options] final case class WindowSizes(size: Long, slide: Long, offset: Long) {

  /** Whether all windows begin and end with a frame. */
  def isMadeOf(grid: Frame): Boolean =
    Seq(size, slide, offset - grid.offset).forall(_ % grid.size == 0) &&
      size / grid.size <= WindowShape.MostFrames

  /** Whether each of these windows ends where one of the other windows ends. */
  def endsAmong(others: WindowSizes): Boolean =
    Seq(slide, offset - others.offset).forall(_ % others.slide == 0)

  /** The windows over frames of the state. */
  def over(stored: StoredFrames): Sliding = {
    val StoredFrames(Frame(length, first), from) = stored
    val every = (slide / length).toInt
    val phase = Math.floorMod((offset - first) / length, every)
    Sliding((size / length).toInt, every, phase, from)
  }
}

private[options] object WindowSizes {

  /** The settings of sizes in the structure of a window. */
  val Names: Seq[String] = Seq("size", "slide", "offset")

  /** Whether a window is on the fast path and has sizes of fixed length. */
  def isFixed(window: Structure): Boolean =
    window.get("kind").exists(Set("tumbling", "sliding")) && window.get("size").isDefined &&
      Seq("time_zone", WindowSettings.RowAtATime).forall(window.get(_).isEmpty)

  def of(window: Structure): WindowSizes = {
    val size = window.get("size").fold(0L)(Durations.micros)
    WindowSizes(
      size,
      window.get("slide").fold(size)(Durations.micros),
      window.get("offset").fold(0L)(Durations.micros)
    )
  }
}
