package io.eventtide.spark.planning

import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.classic.SparkSession
import org.apache.spark.sql.eventtide.{RealTimePlans, StreamExecutionAccess}
import org.apache.spark.sql.execution.{SparkPlan, SparkStrategy}

import io.eventtide.spark.operators.watermark.{PolicyWatermarkExec, SubstreamStatsAccum}
import io.eventtide.spark.query.run.{BatchWatermark, QueryWatermarks}
import io.eventtide.spark.source.HistoryRows

/** Plans Eventtide's watermark node, its clock and the rows of a history. While a query runs, Spark
  * plans each micro-batch on the query's thread, where the node finds its batch. Elsewhere
  * (`explain`) there is no batch.
  */
final case class WatermarkStrategy(session: SparkSession) extends SparkStrategy {

  override def apply(plan: LogicalPlan): Seq[SparkPlan] = plan match {
    case node: PolicyWatermark =>
      val batch = currentBatch(node)
      val exec = new PolicyWatermarkExec(
        node.nodeId,
        node.eventTime,
        node.delay,
        planLater(node.child),
        node.substream,
        node.mark,
        node.settings,
        batch,
        new SubstreamStatsAccum(batch)
      )
      exec :: Nil
    case AttachClock(data, clock, _, _) if RealTimePlans.isRealTime(clock) =>
      AttachClockExec(planLater(data), planLater(clock)) :: Nil
    case HistoryRows(rows) => planLater(rows) :: Nil
    case _ => Nil
  }

  private def currentBatch(node: PolicyWatermark): Option[BatchWatermark] =
    StreamExecutionAccess.current(session).flatMap(QueryWatermarks.plannedBatch(_, node.nodeId))
}
