package io.eventtide.spark.planning

import org.apache.spark.sql.catalyst.plans.logical.AnalysisHelper
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.catalyst.streaming.{WriteToStream, WriteToStreamStatement}
import org.apache.spark.sql.execution.streaming.AvailableNowTrigger

import io.eventtide.spark.EventtideException

/** Lets a query that reads what there is close every window after its last row.
  *
  * That it shall stands in the plan by which it is started, which is analysed on the thread that starts
  * it.
  */
private[spark] object Drain extends Rule[LogicalPlan] {
  private val isAsked = ThreadLocal.withInitial[Boolean](() => false)

  override def apply(plan: LogicalPlan): LogicalPlan = plan match {
    case write: WriteToStream if isAsked.get =>
      AnalysisHelper.allowInvokingTransformsInAnalyzer {
        write.copy(inputQuery = write.inputQuery.transform { case clock: AttachClock =>
          clock.copy(drains = true)
        })
      }
    case _ => plan
  }

  /** Starts a query that drains. */
  def during[A](start: => A): A = {
    isAsked.set(true)
    try start
    finally isAsked.remove()
  }

  /** Refuses a query that is to drain and cannot. */
  def check(start: WriteToStreamStatement): Unit = if (isAsked.get) {
    if (!start.inputQuery.exists(_.isInstanceOf[AttachClock]))
      throw EventtideException("DRAIN_WITHOUT_WATERMARK")
    if (start.trigger != AvailableNowTrigger)
      throw EventtideException("DRAIN_TRIGGER", "trigger" -> start.trigger)
  }
}
