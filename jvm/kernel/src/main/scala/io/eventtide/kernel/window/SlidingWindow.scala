package io.eventtide.kernel.window

import io.eventtide.kernel.InvalidArgument
import io.eventtide.kernel.time.Frame

/** The shape of time windows: `size` long, one starting at every boundary of the slide.
  *
  *   - '''Guarantee:''' every window is made of whole frames, each one slide long.
  *   - '''Units:''' whatever unit the times share.
  *   - '''Edges:''' a tumbling window is one whose slide is its size.
  *   - '''Restart:''' immutable; nothing to save.
  *   - '''Source:''' Jet's `SlidingWindowPolicy`.
  *
  * @param size length of a window, a multiple of the slide
  * @param slide distance between the starts of two windows, more than zero
  * @param offset where a window starts, from 0 to `slide - 1`
  */
final case class SlidingWindow(size: Long, slide: Long, offset: Long = 0) {

  /** The slices that the windows are made of. */
  val frame: Frame = Frame(slide, offset)

  if (size <= 0 || size % slide != 0)
    throw new InvalidArgument("window size", size, s"a multiple of the slide $slide, above zero")

  /** Tumbling windows, each as long as one frame of these. */
  def toTumblingByFrame: SlidingWindow = copy(size = slide)

  /** The same windows, starting elsewhere. */
  def withOffset(offset: Long): SlidingWindow = copy(offset = offset)
}

object SlidingWindow {

  /** Windows that follow each other without overlap. */
  def tumbling(size: Long): SlidingWindow = SlidingWindow(size, size)
}
