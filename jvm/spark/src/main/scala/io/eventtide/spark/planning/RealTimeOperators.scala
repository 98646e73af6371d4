package io.eventtide.spark.planning

import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.eventtide.RealTimePlans
import org.apache.spark.sql.execution.{ColumnarRule, SparkPlan}

import io.eventtide.spark.EventtideException
import io.eventtide.spark.operators.watermark.{PolicyWatermarkExec, TimeMarkerExec}
import io.eventtide.spark.operators.window.EventtideWindowExec

/** Refuses operators that real-time mode does not support, in plans with operators of Eventtide.
  * Spark's own check refuses these as well and is therefore off. Spark checks the rest of the plan.
  */
private[spark] object RealTimeOperators extends ColumnarRule {

  override def postColumnarTransitions: Rule[SparkPlan] = (plan: SparkPlan) => {
    if (RealTimePlans.isRealTime(plan)) {
      val others = withoutOurs(plan)
      if (!others.eq(plan)) {
        RealTimePlans.unsupportedOperators(others).foreach { found =>
          throw EventtideException("REAL_TIME_OPERATOR", "operators" -> found)
        }
        RealTimeStart.checkSlots(plan.session.sparkContext, RealTimePlans.tasks(plan))
      }
    }
    plan
  }

  // Returns the same plan if it has no operator of Eventtide.
  private def withoutOurs(plan: SparkPlan): SparkPlan = plan.transformUp {
    case window: EventtideWindowExec => window.child
    case watermark: PolicyWatermarkExec => watermark.child
    case markers: TimeMarkerExec => markers.child
    case AttachClockExec(data, _) => data
  }
}
