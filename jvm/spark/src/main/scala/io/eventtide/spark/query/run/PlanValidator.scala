package io.eventtide.spark.query.run

import org.apache.spark.sql.catalyst.plans.logical.{EventTimeWatermark, LogicalPlan}
import org.apache.spark.sql.eventtide.SparkShims

import io.eventtide.spark.EventtideException
import io.eventtide.spark.spi.{WatermarkNode, WindowNode}

/** Checks a plan for errors before anything is started or written. */
private[spark] object PlanValidator {

  /** Refuses a watermark above another watermark. */
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

  /** Whether a node keeps state between batches. */
  def isStateful(node: LogicalPlan): Boolean =
    node.isInstanceOf[WindowNode] || SparkShims.isStateful(node)

  /** Whether a node is the aggregation inside an Eventtide window of the plan. */
  def isWindowOperator(plan: LogicalPlan, node: LogicalPlan): Boolean = plan.exists {
    case window: WindowNode => window.aggregation eq node
    case _ => false
  }

  /** Whether the watermark of a plan only closes windows, and makes no row late. */
  def isOnlyForWindows(plan: LogicalPlan): Boolean = !plan.exists {
    case own: WatermarkNode => !own.usesIngestionTime
    case _: EventTimeWatermark => true
    case _: WindowNode => false
    case node => isStateful(node) && !isWindowOperator(plan, node)
  }
}
