package io.eventtide.spark.spi

import java.util.UUID

import org.apache.spark.sql.catalyst.plans.logical.{EventTimeWatermark, LogicalPlan}
import org.apache.spark.sql.eventtide.StreamExecutionAccess

import io.eventtide.spark.options.{Structure, WatermarkSettings, WindowSettings}

/** An Eventtide watermark node, as a running query uses it. */
trait WatermarkNode { this: EventTimeWatermark =>

  def settings: WatermarkSettings

  /** Whether the event time of the rows is the timestamp of their batch, so that no row is late. */
  def usesIngestionTime: Boolean
}

/** An Eventtide window node. */
trait WindowNode { this: LogicalPlan =>

  /** The id of the node: the same in every copy, and unique within a query. */
  def nodeId: UUID

  def settings: WindowSettings

  /** The properties of the window that its state depends on. */
  def structure: Structure

  /** The aggregation by key and frame within the window. */
  def aggregation: LogicalPlan
}

/** The node that attaches a clock to a query. */
trait ClockNode { this: LogicalPlan =>

  /** Whether the query closes every window after its last row. */
  def drains: Boolean

  /** Whether the query reads a history in place of its stream. */
  def backfills: Boolean
}

private[spark] object PlanNodes {

  /** The Eventtide watermark nodes of a plan, in the order of its inputs. */
  def watermarks(plan: LogicalPlan): Seq[EventTimeWatermark with WatermarkNode] =
    StreamExecutionAccess.watermarkNodes(plan).collect {
      case node: EventTimeWatermark with WatermarkNode => node
    }

  /** The window nodes of a plan, without duplicates, in an order that is stable across restarts. */
  def windows(plan: LogicalPlan): Seq[LogicalPlan with WindowNode] =
    plan.collect { case window: LogicalPlan with WindowNode => window }.distinctBy(_.nodeId)

  /** Whether a query closes every window after its last row. */
  def drains(plan: LogicalPlan): Boolean = plan.exists {
    case clock: ClockNode => clock.drains
    case _ => false
  }

  /** Whether a query reads a history in place of its stream. */
  def backfills(plan: LogicalPlan): Boolean = plan.exists {
    case clock: ClockNode => clock.backfills
    case _ => false
  }
}
