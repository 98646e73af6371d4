package io.eventtide.spark.planning

import org.apache.spark.sql.catalyst.optimizer.InlineCTE
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.catalyst.streaming.WriteToStreamStatement
import org.apache.spark.sql.execution.streaming.{ContinuousTrigger, RealTimeTrigger}
import org.apache.spark.sql.streaming.OutputMode

import io.eventtide.spark.EventtideException
import io.eventtide.spark.latelog.RetainTempCheckpoint
import io.eventtide.spark.query.run.PlanValidator
import io.eventtide.spark.spi.{HasLateOutput, PlanNodes}

/** Rejects a query that cannot work, for example because of its trigger or output mode, before it
  * starts.
  *
  * Spark would reject it too, but with the name of a node or class that the user has never seen.
  */
object StartQueryRule extends Rule[LogicalPlan] {
  override def apply(plan: LogicalPlan): LogicalPlan = {
    plan match {
      case requested: WriteToStreamStatement =>
        val start = Backfill.requestedOn(requested)
        check(start)
        if (start.trigger.isInstanceOf[RealTimeTrigger])
          start.copy(inputQuery = RealTimeRows(start.inputQuery))
        else start
      case other => other
    }
  }

  private def check(start: WriteToStreamStatement): Unit = {
    Drain.check(start)
    val backfills = PlanNodes.backfills(start.inputQuery)
    if (backfills) Backfill.check(start)
    if (start.inputQuery.exists(_.isInstanceOf[AttachClock])) checkTrigger(start)
    if (start.inputQuery.exists(_.isInstanceOf[WindowAggregate])) checkMode(start)
    ExpectedShare.check(start.inputQuery, start.trigger.isInstanceOf[RealTimeTrigger])
    checkLearntLag(start.inputQuery)
    checkPanes(start.inputQuery)
    checkTwice(start.inputQuery)
    if (!backfills) checkHandlers(start.inputQuery) // its handler is called by the next run
  }

  // A late target takes the rows of one window.
  private def checkLearntLag(query: LogicalPlan): Unit = {
    val windows = query.collect { case node: HasLateOutput => node.lateNode }.distinct.length
    val watermarks = query.collect { case node: PolicyWatermark => node.nodeId }.distinct.length
    val learns = query.exists {
      case window: WindowAggregate => window.settings.byKey.exists(_.learnsLag)
      case _ => false
    }
    if (learns && (windows > 1 || watermarks > 1))
      throw EventtideException(
        "LATE_TARGET_BY_KEY",
        "windows" -> windows,
        "watermarks" -> watermarks
      )
  }

  private def checkTrigger(start: WriteToStreamStatement): Unit = start.trigger match {
    case _: ContinuousTrigger =>
      throw EventtideException("TRIGGER_UNSUPPORTED", "trigger" -> "continuous")
    case _: RealTimeTrigger => RealTimeStart.check(start)
    case _ => ()
  }

  // A downstream operator would treat an early and a later result of one window as two rows.
  private def checkPanes(query: LogicalPlan): Unit =
    statefulAbove(query)(givesPanes).foreach { node =>
      throw EventtideException("PANES_NOT_FINAL", "operator" -> node.nodeName)
    }

  /** A stateful operator above a node. */
  private[planning] def statefulAbove(
      query: LogicalPlan
  )(isBelow: LogicalPlan => Boolean): Option[LogicalPlan] = query.find { node =>
    val below = node match {
      case window: WindowAggregate => window.child.children
      case other => other.children
    }
    val isOperator = PlanValidator.isStateful(node) && !PlanValidator.isWindowOperator(query, node)
    isOperator && below.exists(_.exists(isBelow))
  }

  // Both copies would use the same state. Spark copies a query of WITH for each of its uses, later.
  private def checkTwice(query: LogicalPlan): Unit = {
    val windows = InlineCTE(alwaysInline = true)(query).collect { case window: WindowAggregate =>
      window.nodeId
    }
    if (windows.distinct.length < windows.length) throw EventtideException("WINDOW_TWICE")
  }

  // A companion calls the handler of one window. Without a companion, no handler is called.
  private def checkHandlers(query: LogicalPlan): Unit = {
    val handled = query.collect {
      case window: HasLateOutput if window.lateSettings.hasHandler => window.lateNode
    }.distinct
    if (handled.nonEmpty && !RetainTempCheckpoint.isFollowed(query))
      throw EventtideException("HANDLER_NOT_CALLED")
    if (handled.length > 1) throw EventtideException("HANDLER_TWICE", "count" -> handled.length)
  }

  private def givesPanes(node: LogicalPlan): Boolean = node match {
    case window: WindowAggregate =>
      window.settings.hasPanes || window.settings.hasOwnTime
    case _ => false
  }

  // Real-time mode has another output mode, which `RealTimeStart` checks.
  private def checkMode(start: WriteToStreamStatement): Unit = {
    val mode = start.outputMode
    if (mode != OutputMode.Append && !start.trigger.isInstanceOf[RealTimeTrigger])
      throw EventtideException("OUTPUT_MODE_UNSUPPORTED", "mode" -> mode.toString.toLowerCase)
  }
}
