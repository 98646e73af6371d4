package io.eventtide.spark.plan

import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.classic.SparkSession
import org.apache.spark.sql.eventtide.RunningQuery
import org.apache.spark.sql.execution.{SparkPlan, SparkStrategy}

import io.eventtide.spark.exec.{IngestionTimeExec, PolicyWatermarkExec}
import io.eventtide.spark.query.{BatchWatermark, QueryWatermarks}

/** Plans Eventtide's nodes. While a query runs, Spark plans each micro-batch anew on the query's own
  * thread, which is where a node finds the batch that it belongs to; elsewhere (`explain`) there is
  * none.
  */
final case class EventtideStrategy(session: SparkSession) extends SparkStrategy {

  override def apply(plan: LogicalPlan): Seq[SparkPlan] = plan match {
    case node: PolicyWatermark =>
      val exec = new PolicyWatermarkExec(
        node.nodeId,
        node.eventTime,
        node.delay,
        planLater(node.child),
        node.substream,
        node.settings,
        currentBatch
      )
      exec :: Nil
    case IngestionTime(column, child) =>
      IngestionTimeExec(column, ingestionMicros, planLater(child)) :: Nil
    case _ => Nil
  }

  private def currentBatch: Option[BatchWatermark] =
    RunningQuery.current(session).flatMap(QueryWatermarks.plannedBatch)

  // One past the watermark at least: a clock that goes back must not make a row late, and Spark
  // takes a bare time that equals the watermark for late.
  private def ingestionMicros: Long =
    RunningQuery.current(session).map(_.batch).fold(0L) { batch =>
      math.max(batch.timestampMs, batch.watermarkMs + 1) * 1000
    }
}
