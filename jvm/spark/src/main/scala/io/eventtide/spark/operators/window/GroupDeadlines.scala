package io.eventtide.spark.operators.window

import java.util.{Comparator, HashMap => JHashMap, TreeSet}

import org.apache.spark.sql.catalyst.expressions.UnsafeRow

import io.eventtide.spark.spi.NextTimer

/** When the clock closes the next window of each group, in microseconds: the groups of one partition
  * that have open windows.
  *
  * Each row of a group may put its deadline off. So a group moves in the order only if its deadline
  * comes nearer, or when its turn has come.
  */
private[window] final class GroupDeadlines {
  import GroupDeadlines._

  private val known = new JHashMap[UnsafeRow, Deadline]
  private val ordered = new TreeSet[Deadline](
    Comparator
      .comparingLong[Deadline](_.queuedAt)
      .thenComparingLong(_.id)
  )
  private var ids = 0L

  /** Sets the deadline of a group; `Never` if it has none. */
  def set(group: UnsafeRow, at: Long): Unit = {
    val found = known.get(group)
    if (found != null) {
      found.at = at
      if (at < found.queuedAt) requeue(found)
    } else if (at != NextTimer.Never) {
      ids += 1
      val added = new Deadline(group.copy(), ids, at)
      known.put(added.group, added)
      ordered.add(added): Unit
    }
  }

  private def requeue(one: Deadline): Unit = {
    ordered.remove(one)
    one.queuedAt = one.at
    if (one.at == NextTimer.Never) known.remove(one.group): Unit
    else ordered.add(one): Unit
  }

  /** The first deadline; `Never` if there is none. */
  def first: Long = {
    while (!ordered.isEmpty && ordered.first.at > ordered.first.queuedAt) requeue(ordered.first)
    if (ordered.isEmpty) NextTimer.Never else ordered.first.at
  }

  /** The group with the first deadline. */
  def group: UnsafeRow = ordered.first.group
}

private object GroupDeadlines {

  /** @param queuedAt
    *   its place in the order, at most `at`
    */
  final class Deadline(val group: UnsafeRow, val id: Long, var at: Long) {
    var queuedAt: Long = at
  }
}
