package io.eventtide.spark.planning

import org.apache.spark.sql.catalyst.plans.logical.AnalysisHelper
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.catalyst.streaming.{WriteToStream, WriteToStreamStatement}
import org.apache.spark.sql.execution.streaming.AvailableNowTrigger

import io.eventtide.spark.EventtideException
import io.eventtide.spark.spi.PlanNodes

/** Makes a query with the `AvailableNow` trigger close every window after its last row.
  *
  * The clocks of the plan have the flag. In a classic session the thread that starts the query sets
  * it, because Spark analyzes the plan on that thread. A client of Spark Connect requests it.
  */
private[spark] object Drain extends Rule[LogicalPlan] {
  private val isRequested = ThreadLocal.withInitial[Boolean](() => false)

  override def apply(plan: LogicalPlan): LogicalPlan = plan match {
    case write: WriteToStream if isRequested.get =>
      write.copy(inputQuery = requestedFor(write.inputQuery))
    case _ => plan
  }

  /** The plan of a query that drains. */
  def requestedFor(query: LogicalPlan): LogicalPlan = {
    checkClock(query)
    AnalysisHelper.allowInvokingTransformsInAnalyzer {
      query.transform { case clock: AttachClock => clock.copy(drains = true) }
    }
  }

  /** Starts a query that drains. The flag is set on this thread while `start` runs. */
  def during[A](start: => A): A = {
    isRequested.set(true)
    try start
    finally isRequested.remove()
  }

  /** Rejects a query that is started to drain but cannot. */
  def check(start: WriteToStreamStatement): Unit = {
    val drains = isRequested.get || PlanNodes.drains(start.inputQuery)
    if (isRequested.get) checkClock(start.inputQuery)
    if (drains && start.trigger != AvailableNowTrigger)
      throw EventtideException("DRAIN_TRIGGER", "trigger" -> start.trigger)
  }

  private def checkClock(query: LogicalPlan): Unit =
    if (!query.exists(_.isInstanceOf[AttachClock]))
      throw EventtideException("DRAIN_WITHOUT_WATERMARK")
}
