package io.eventtide.spark.plan

import org.apache.spark.sql.catalyst.plans.logical.{EventTimeWatermark, LogicalPlan}

import io.eventtide.spark.EventtideException

/** What cannot be right about a plan, said before anything is started or written. */
private[spark] object PlanChecks {

  /** Refuses a watermark above another one. */
  def oneWatermarkEach(plan: LogicalPlan): Unit = plan.foreach {
    case node: EventTimeWatermark => noWatermarkYet(node.child, node.eventTime.name)
    case _ => ()
  }

  /** Refuses to add a watermark on `column` to a plan that has one. */
  def noWatermarkYet(plan: LogicalPlan, column: String): Unit =
    plan.collectFirst { case node: EventTimeWatermark => node }.foreach { existing =>
      throw EventtideException(
        "DUPLICATE_WATERMARK",
        "existing" -> existing.eventTime.name,
        "column" -> column
      )
    }
}
