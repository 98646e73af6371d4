package io.eventtide.spark.latelog

import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.catalyst.streaming.WriteToStream

/** Keeps a temporary checkpoint when its query ends, where a companion still reads from it.
  *
  * Whether Spark removes it stands in the plan by which a query is started, which is analysed on the
  * thread that starts it.
  */
private[spark] object RetainTempCheckpoint extends Rule[LogicalPlan] {
  private val starting = new ThreadLocal[Start]

  private final class Start { var isTemporary = false }

  override def apply(plan: LogicalPlan): LogicalPlan = (plan, Option(starting.get)) match {
    case (write: WriteToStream, Some(start)) if write.deleteCheckpointOnStop =>
      start.isTemporary = true
      write.copy(deleteCheckpointOnStop = false)
    case _ => plan
  }

  /** Whether this thread starts a query that a companion follows. */
  def isFollowed: Boolean = starting.get != null

  /** Starts a query; and whether its checkpoint is temporary, and now its starter's to remove. */
  def during[A](start: => A): (A, Boolean) = {
    val kept = new Start
    starting.set(kept)
    try (start, kept.isTemporary)
    finally starting.remove()
  }
}
