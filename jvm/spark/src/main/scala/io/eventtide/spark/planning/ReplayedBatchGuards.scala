package io.eventtide.spark.planning

import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.classic.SparkSession
import org.apache.spark.sql.eventtide.StreamExecutionAccess

import io.eventtide.kernel.watermark.FutureGuard
import io.eventtide.spark.options.WatermarkSettings
import io.eventtide.spark.query.run.QueryWatermarks

/** Applies, in a replayed batch, the future guards of the run that began the batch. The current run
  * may have other guards, but a sink or another driver may already have the batch's output.
  */
final case class ReplayedBatchGuards(session: SparkSession) extends Rule[LogicalPlan] {

  override def apply(plan: LogicalPlan): LogicalPlan =
    if (plan.exists(_.isInstanceOf[PolicyWatermark]))
      StreamExecutionAccess.current(session).fold(plan)(query => plan.transformUp(begun(query)))
    else plan

  private def begun(query: StreamExecutionAccess): PartialFunction[LogicalPlan, LogicalPlan] = {
    case node: PolicyWatermark =>
      val settings = QueryWatermarks.begunSettings(query, node.nodeId)
      settings.map(_.guard).filter(_ != node.settings.guard).fold(node)(node.by)
    case rows: LateRowFilter =>
      rows.collectFirst { case node: PolicyWatermark => node.settings } match {
        case Some(below) if below.keepsRefused => rows.copy(guard = late(below))
        case _ => rows
      }
  }

  private def late(settings: WatermarkSettings) =
    settings.guard.filter(_.mode == FutureGuard.Late)
}
