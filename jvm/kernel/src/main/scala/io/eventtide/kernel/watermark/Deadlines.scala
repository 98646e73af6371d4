package io.eventtide.kernel.watermark

/** When a minimum over members that can go idle reaches a target, if nobody says anything.
  *
  *   - '''Guarantee:''' the answer is the earliest clock value: one unit before it the target is
  *     not reached, from it on it is.
  *   - '''Units:''' the clock's.
  *   - '''Edges:''' a clock value that has passed means "already", the highest means "never". Without
  *     members all are idle. When the last active member goes idle, the highest is released.
  *   - '''Restart:''' nothing to save; made for one question and thrown away.
  *   - '''Source:''' Jet's rule for idle partitions, solved for the clock.
  */
final class Deadlines {
  import WatermarkPolicy.Never

  private var firstDue = Never // of any member
  private var lastPass = Long.MinValue // when each has come to its target or is idle
  private var lastIdle = Long.MinValue

  /** A member that is at the target from `due` on and idle from `idle` on. */
  def add(due: Long, idle: Long): Unit = {
    addLeft(due)
    lastIdle = Math.max(lastIdle, idle)
    lastPass = Math.max(lastPass, Math.min(due, idle))
  }

  /** A member that has left: it holds nothing back, but what it reached can be released. */
  def addLeft(due: Long): Unit = firstDue = Math.min(firstDue, due)

  /** The clock value at which all are idle. */
  def idle: Option[Long] = Option.when(lastIdle < Never)(lastIdle)

  /** The clock value at which the minimum is at the target, or the highest is released there. */
  def earliest: Option[Long] =
    if (lastPass < Never && (lastIdle == Never || lastPass < lastIdle)) Some(lastPass)
    else if (lastIdle < Never && firstDue < Never) Some(Math.max(lastIdle, firstDue))
    else None
}

object Deadlines {

  /** The same for members that are at hand as pairs of (due, idle), none for never. */
  def earliest(members: Iterable[(Option[Long], Option[Long])]): Option[Long] = {
    val deadlines = new Deadlines
    members.foreach { case (due, idle) =>
      deadlines.add(due.getOrElse(WatermarkPolicy.Never), idle.getOrElse(WatermarkPolicy.Never))
    }
    deadlines.earliest
  }
}
