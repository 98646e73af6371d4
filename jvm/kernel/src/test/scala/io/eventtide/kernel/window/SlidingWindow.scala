package io.eventtide.kernel.window

import io.eventtide.kernel.InvalidArgument
import io.eventtide.kernel.time.Frame

/** The shape of time windows: `size` long, one starting at every boundary of the slide.
  *
  *   - '''Guarantee:''' every window consists of whole frames, each one slide long.
  *   - '''Units:''' any, the same for all times.
  *   - '''Edges:''' a tumbling window is one whose slide is its size.
  *   - '''Restart:''' immutable; nothing to save.
  *   - '''Source:''' Jet's `SlidingWindowPolicy`.
  *
  * @param size length of a window, a multiple of the slide
  * @param slide distance between the starts of two windows, more than zero
  * @param offset position of a window start, from 0 to `slide - 1`
  */
final case class SlidingWindow(size: Long, slide: Long, offset: Long = 0) {

  /** The frames that the windows consist of. */
  val frame: Frame = Frame(slide, offset)

  if (size <= 0 || size % slide != 0)
    throw new InvalidArgument("window size", size, s"a multiple of the slide $slide, above zero")
}

object SlidingWindow {

  /** Consecutive windows without overlap. */
  def tumbling(size: Long): SlidingWindow = SlidingWindow(size, size)
}
