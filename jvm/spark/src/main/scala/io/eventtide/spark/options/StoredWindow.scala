package io.eventtide.spark.options

import io.eventtide.kernel.window.{LateRule, Profile, WindowSpec}

/** A window of a checkpoint, as far as its structure tells when it closes and which rows are late.
  * Times are in microseconds.
  */
private[spark] final case class StoredWindow(structure: Structure) {
  private val kind = structure.get("kind").getOrElse("")

  /** Whether windows end at a time. */
  def endsByTime: Boolean = kind != "count" && !structure.get("slide").exists(_.endsWith("rows"))

  /** Whether each key, or each group of keys, has its own watermark. */
  def hasOwnTime: Boolean = structure.get("watermark_scope").isDefined

  /** The lowest watermark at which a window that ends at `end` has its result on time. */
  def closesAt(end: Long): Long = spec.fold(end + length("delay")) { of =>
    of.copy(delay = length("delay")).closesAt(of.grid.index(end))
  }

  /** The lowest watermark at which a row of this time is late: for windows of fixed times, when it
    * misses all of them; for other windows, when it is behind the watermark.
    */
  def lateFrom(time: Long): Long = spec.fold(time + 1)(_.lateFrom(time))

  /** What a window is, for readers: its bounds are included or not. */
  def bounds: (Char, Char) = {
    val text = structure.get("bounds").getOrElse("[start, end)")
    (text.head, text.last)
  }

  /** Fails if a length, a number or the bounds cannot be read: Eventtide has not written them. */
  def requireReadable(): Unit = {
    val sizes = if (structure.get("time_zone").isEmpty) StoredWindow.Sizes else Nil
    val isCount = sizes.filter(structure.get(_).exists(_.endsWith("rows")))
    (sizes.diff(isCount) ++ StoredWindow.Delays).foreach(length)
    StoredFrames.of(structure)
    val _ = bounds
  }

  private def length(name: String): Long = structure.get(name).fold(0L)(Durations.micros)

  private lazy val spec: Option[WindowSpec] =
    WindowFrames.stored(kind, structure).map { frames =>
      val delay = length("delay") + length("allowed_lateness")
      WindowSpec(frames.grid, frames.shape, profile, delay)
    }

  // Spark's watermark excludes its own time, even if the profile's system includes it.
  private def profile: Profile = {
    val named = Profile.all.find(one => structure.get("bounds").contains(one.bounds.name))
    val rule = LateRule.all.find(rule => structure.get("late_rule").contains(rule.name))
    val base = named.getOrElse(Profile.eventtide)
    base.copy(lateRule = rule.getOrElse(base.lateRule), inclusive = false)
  }
}

private[spark] object StoredWindow {
  private val Sizes = WindowSizes.Names :+ "step"
  private val Delays = Seq("delay", "allowed_lateness")
}
