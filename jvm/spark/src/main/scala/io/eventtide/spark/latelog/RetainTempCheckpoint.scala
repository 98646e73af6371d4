package io.eventtide.spark.latelog

import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.catalyst.streaming.WriteToStream

/** Keeps a temporary checkpoint when its query ends, if a companion query still reads from it.
  *
  * The plan of a starting query has a flag for whether Spark removes the checkpoint. That
  * plan is analyzed on the thread that starts the query.
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

  /** Whether this thread is starting a query that a companion follows. */
  def isFollowed: Boolean = starting.get != null

  /** Starts a query. Also returns whether its checkpoint is temporary: the caller must then remove
    * it.
    */
  def during[A](start: => A): (A, Boolean) = {
    val kept = new Start
    starting.set(kept)
    try (start, kept.isTemporary)
    finally starting.remove()
  }
}
