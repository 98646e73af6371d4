package io.eventtide.spark.latelog

import java.util.concurrent.ConcurrentHashMap

import org.apache.spark.sql.catalyst.expressions.Attribute
import org.apache.spark.sql.catalyst.plans.logical.{AnalysisHelper, LogicalPlan, UnaryNode}
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.catalyst.streaming.WriteToStream

/** Keeps a temporary checkpoint when its query ends, if a companion query still reads from it.
  *
  * The plan of a starting query has a flag for whether Spark removes the checkpoint. In a classic
  * session, the thread that starts the query says that a companion follows it, because Spark
  * analyzes the plan on that thread. A client of Spark Connect says so in the plan.
  */
private[spark] object RetainTempCheckpoint extends Rule[LogicalPlan] {
  private val isStarting = ThreadLocal.withInitial[Boolean](() => false)
  private val retained = ConcurrentHashMap.newKeySet[String]()

  override def apply(plan: LogicalPlan): LogicalPlan = plan match {
    case write: WriteToStream if isFollowed(write.inputQuery) =>
      if (write.deleteCheckpointOnStop) retained.add(write.resolvedCheckpointLocation): Unit
      val query = AnalysisHelper.allowInvokingTransformsInAnalyzer {
        write.inputQuery.transform { case FollowedQuery(child) => child }
      }
      write.copy(inputQuery = query, deleteCheckpointOnStop = false)
    case _ => plan
  }

  /** Whether a companion follows the query of this plan. */
  def isFollowed(plan: LogicalPlan): Boolean =
    isStarting.get || plan.exists(_.isInstanceOf[FollowedQuery])

  /** Starts a query that a companion follows. */
  def during[A](start: => A): A = {
    isStarting.set(true)
    try start
    finally isStarting.remove()
  }

  /** Whether the checkpoint is temporary and was kept: the caller must then remove it. */
  def release(checkpoint: String): Boolean = retained.remove(checkpoint)
}

/** The plan of a query that a companion follows. It exists only until the query has started. */
private[spark] final case class FollowedQuery(child: LogicalPlan) extends UnaryNode {
  override def output: Seq[Attribute] = child.output

  override protected def withNewChildInternal(newChild: LogicalPlan): FollowedQuery =
    copy(child = newChild)
}
