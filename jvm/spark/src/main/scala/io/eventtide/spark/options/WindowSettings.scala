package io.eventtide.spark.options

import io.eventtide.kernel.window.WindowSpec
import io.eventtide.spark.late.LateSettings

/** One kind of windows as a user asked for it, validated. Times are in microseconds.
  *
  * @param kind
  *   what the user calls it
  * @param sizes
  *   how long windows are and where they start, as the user's options say
  * @param late
  *   what becomes of late rows
  */
final case class WindowSettings(
    kind: String,
    sizes: String,
    spec: WindowSpec,
    late: LateSettings
) {

  /** What saved state depends on: a checkpoint of another structure is refused. */
  def structure: String = {
    val WindowSpec(grid, shape, profile, delay) = spec
    s"$kind $shape, $grid, ${profile.bounds.name}, late ${profile.lateRule.name}, " +
      s"delay ${PolicyTree.duration(delay)}"
  }
}
