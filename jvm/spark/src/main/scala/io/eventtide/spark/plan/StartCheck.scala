package io.eventtide.spark.plan

import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.catalyst.streaming.WriteToStreamStatement
import org.apache.spark.sql.execution.streaming.{ContinuousTrigger, RealTimeTrigger}
import org.apache.spark.sql.streaming.{OutputMode, Trigger}

import io.eventtide.spark.EventtideException

/** Refuses a query whose trigger or output mode cannot work, before it is started.
  *
  * Spark would refuse it too, by the name of a node or of a class that the user has never seen.
  */
object StartCheck extends Rule[LogicalPlan] {
  override def apply(plan: LogicalPlan): LogicalPlan = {
    plan match {
      case start: WriteToStreamStatement =>
        if (start.inputQuery.exists(_.isInstanceOf[WithClock])) checkTrigger(start.trigger)
        if (start.inputQuery.exists(_.isInstanceOf[WindowAggregate])) checkMode(start.outputMode)
      case _ => ()
    }
    plan
  }

  private def checkTrigger(trigger: Trigger): Unit = {
    val unsupported = trigger match {
      case _: ContinuousTrigger => Some("continuous")
      case _: RealTimeTrigger => Some("realTime")
      case _ => None
    }
    unsupported.foreach(name => throw EventtideException("TRIGGER_UNSUPPORTED", "trigger" -> name))
  }

  private def checkMode(mode: OutputMode): Unit = if (mode != OutputMode.Append) {
    throw EventtideException("OUTPUT_MODE_UNSUPPORTED", "mode" -> mode.toString.toLowerCase)
  }
}
