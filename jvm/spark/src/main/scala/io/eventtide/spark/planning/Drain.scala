package io.eventtide.spark.planning

import org.apache.spark.sql.catalyst.plans.logical.AnalysisHelper
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.catalyst.streaming.{WriteToStream, WriteToStreamStatement}
import org.apache.spark.sql.execution.streaming.AvailableNowTrigger

import io.eventtide.spark.EventtideException

/** Makes a query with the `AvailableNow` trigger close every window after its last row.
  *
  * The plan that starts the query has the flag. Spark analyzes that plan on the thread that
  * starts the query.
  */
private[spark] object Drain extends Rule[LogicalPlan] {
  private val isRequested = ThreadLocal.withInitial[Boolean](() => false)

  override def apply(plan: LogicalPlan): LogicalPlan = plan match {
    case write: WriteToStream if isRequested.get =>
      AnalysisHelper.allowInvokingTransformsInAnalyzer {
        write.copy(inputQuery = write.inputQuery.transform { case clock: AttachClock =>
          clock.copy(drains = true)
        })
      }
    case _ => plan
  }

  /** Starts a query that drains. The flag is set on this thread while `start` runs. */
  def during[A](start: => A): A = {
    isRequested.set(true)
    try start
    finally isRequested.remove()
  }

  /** Rejects a query that is started to drain but cannot. */
  def check(start: WriteToStreamStatement): Unit = if (isRequested.get) {
    if (!start.inputQuery.exists(_.isInstanceOf[AttachClock]))
      throw EventtideException("DRAIN_WITHOUT_WATERMARK")
    if (start.trigger != AvailableNowTrigger)
      throw EventtideException("DRAIN_TRIGGER", "trigger" -> start.trigger)
  }
}
