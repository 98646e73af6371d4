package io.eventtide.spark.spi

import java.util.UUID

import org.apache.spark.sql.catalyst.plans.logical.{EventTimeWatermark, LogicalPlan}

import io.eventtide.spark.options.{Structure, WatermarkSettings, WindowSettings}

/** A watermark node of ours, as a running query sees it. */
trait WatermarkNode { this: EventTimeWatermark =>

  def settings: WatermarkSettings

  /** Whether its rows have the time of their batch, so that none is ever late. */
  def isOfIngestion: Boolean
}

/** A window of ours in a plan. */
trait WindowNode { this: LogicalPlan =>

  /** The same in every copy of the node, and another in each node of a query. */
  def nodeId: UUID

  def settings: WindowSettings

  /** What the state of the window depends on. */
  def structure: Structure

  /** The aggregation by key and frame that is part of the window. */
  def aggregation: LogicalPlan
}

/** What attaches a clock to a query. */
trait ClockNode { this: LogicalPlan =>

  /** Whether the query closes every window after its last row. */
  def drains: Boolean
}

private[spark] object PlanNodes {

  /** The watermarks of a plan that are ours, in the order of its inputs. */
  def watermarks(plan: LogicalPlan): Seq[EventTimeWatermark with WatermarkNode] =
    plan.collect { case node: EventTimeWatermark with WatermarkNode => node }.distinctBy(_.nodeId)

  /** The windows of a plan, once each, in an order that a restart keeps. */
  def windows(plan: LogicalPlan): Seq[LogicalPlan with WindowNode] =
    plan.collect { case window: LogicalPlan with WindowNode => window }.distinctBy(_.nodeId)

  /** Whether a query closes every window after its last row. */
  def drains(plan: LogicalPlan): Boolean = plan.exists {
    case clock: ClockNode => clock.drains
    case _ => false
  }
}
