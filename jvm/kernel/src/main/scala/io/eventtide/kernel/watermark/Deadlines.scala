package io.eventtide.kernel.watermark

/** Computes when the minimum over members that can go idle reaches a target, if no rows come.
  *
  *   - '''Guarantee:''' the result is the earliest such clock value: the target is not reached
  *     before it and is reached from it on.
  *   - '''Units:''' the clock's.
  *   - '''Edges:''' a past clock value means "already", `Long.MaxValue` means "never". Without
  *     members, all are idle. When the last active member goes idle, the highest watermark is
  *     released.
  *   - '''Restart:''' nothing to save; an instance serves one query.
  *   - '''Source:''' Jet's rule for idle partitions, solved for the clock.
  */
final class Deadlines {
  import WatermarkPolicy.Never

  private var firstDue = Never // of any member
  private var lastPass = Long.MinValue // when every member is at its target or idle
  private var lastIdle = Long.MinValue

  /** Adds a member that is at the target from `due` on and idle from `idle` on. */
  def add(due: Long, idle: Long): Unit = {
    addRemoved(due)
    lastIdle = Math.max(lastIdle, idle)
    lastPass = Math.max(lastPass, Math.min(due, idle))
  }

  /** Adds a removed member: it delays nothing, but its watermark can be released. */
  def addRemoved(due: Long): Unit = firstDue = Math.min(firstDue, due)

  /** The clock value from which on all members are idle. */
  def idle: Option[Long] = Option.when(lastIdle < Never)(lastIdle)

  /** The clock value at which the minimum reaches the target, or the release of the highest does.
    */
  def earliest: Option[Long] =
    if (lastPass < Never && (lastIdle == Never || lastPass < lastIdle)) Some(lastPass)
    else if (lastIdle < Never && firstDue < Never) Some(Math.max(lastIdle, firstDue))
    else None
}

object Deadlines {

  /** The same for members given as pairs of (due, idle), where None means never. */
  def earliest(members: Iterable[(Option[Long], Option[Long])]): Option[Long] = {
    val deadlines = new Deadlines
    members.foreach { case (due, idle) =>
      deadlines.add(due.getOrElse(WatermarkPolicy.Never), idle.getOrElse(WatermarkPolicy.Never))
    }
    deadlines.earliest
  }
}
