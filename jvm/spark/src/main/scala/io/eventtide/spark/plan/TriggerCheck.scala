package io.eventtide.spark.plan

import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.catalyst.streaming.WriteToStreamStatement
import org.apache.spark.sql.execution.streaming.{ContinuousTrigger, RealTimeTrigger}
import org.apache.spark.sql.streaming.Trigger

import io.eventtide.spark.EventtideException

/** Refuses a query whose trigger runs no micro-batches, before it is started.
  *
  * Spark would refuse it too, by the name of a node or of a class that the user has never seen.
  */
object TriggerCheck extends Rule[LogicalPlan] {
  override def apply(plan: LogicalPlan): LogicalPlan = {
    plan match {
      case start: WriteToStreamStatement =>
        unsupported(start.trigger).filter(_ => hasClock(start.inputQuery)).foreach { trigger =>
          throw EventtideException("TRIGGER_UNSUPPORTED", "trigger" -> trigger)
        }
      case _ => ()
    }
    plan
  }

  private def unsupported(trigger: Trigger): Option[String] = trigger match {
    case _: ContinuousTrigger => Some("continuous")
    case _: RealTimeTrigger => Some("realTime")
    case _ => None
  }

  private def hasClock(plan: LogicalPlan): Boolean = plan.exists(_.isInstanceOf[WithClock])
}
