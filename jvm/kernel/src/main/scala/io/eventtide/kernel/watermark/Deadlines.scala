package io.eventtide.kernel.watermark

/** When a minimum over members that can go idle reaches a target, if nobody says anything.
  *
  *   - '''Guarantee:''' the answer is the earliest clock value: one unit before it the target is
  *     not reached, from it on it is.
  *   - '''Units:''' the clock's.
  *   - '''Edges:''' a clock value that has passed means "already", none means "never". Without
  *     members all are idle. When the last active member goes idle, the highest is released.
  *   - '''Restart:''' nothing to save; made for one question and thrown away.
  *   - '''Source:''' Jet's rule for idle partitions, solved for the clock.
  */
final class Deadlines {
  private var anyDue = false
  private var firstDue = Long.MaxValue // of any member; unread while `anyDue` is false
  private var passes = true // each member comes to its target or goes idle
  private var lastPass = Long.MinValue
  private var allIdle = true // each member goes idle
  private var lastIdle = Long.MinValue

  /** A member that is at the target from `due` on and idle from `idle` on. */
  def add(due: Option[Long], idle: Option[Long]): Unit = {
    addLeft(due)
    idle match {
      case Some(at) => lastIdle = Math.max(lastIdle, at)
      case None => allIdle = false
    }
    if (due.isEmpty && idle.isEmpty) passes = false
    else lastPass = Math.max(lastPass, Math.min(due.getOrElse(idle.get), idle.getOrElse(due.get)))
  }

  /** A member that has left: it holds nothing back, but what it reached can be released. */
  def addLeft(due: Option[Long]): Unit = due.foreach { at =>
    firstDue = if (anyDue) Math.min(firstDue, at) else at
    anyDue = true
  }

  /** The clock value at which all are idle. */
  def idle: Option[Long] = Option.when(allIdle)(lastIdle)

  /** The clock value at which the minimum is at the target, or the highest is released there. */
  def earliest: Option[Long] =
    if (passes && (!allIdle || lastPass < lastIdle)) Some(lastPass)
    else if (allIdle && anyDue) Some(Math.max(lastIdle, firstDue))
    else None
}

object Deadlines {

  /** The same for members that are at hand as pairs of (due, idle). */
  def earliest(members: Iterable[(Option[Long], Option[Long])]): Option[Long] = {
    val deadlines = new Deadlines
    members.foreach { case (due, idle) => deadlines.add(due, idle) }
    deadlines.earliest
  }
}
