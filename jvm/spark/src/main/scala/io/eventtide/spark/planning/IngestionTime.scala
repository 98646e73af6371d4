package io.eventtide.spark.planning

import org.apache.spark.sql.catalyst.expressions.{LeafExpression, Literal, Unevaluable}
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.classic.SparkSession
import org.apache.spark.sql.eventtide.StreamExecutionAccess
import org.apache.spark.sql.types.{DataType, TimestampType}

/** The time at which a batch was created: one value per batch, which `FillIngestionTime` fills in.
  *
  * It is an expression under an alias, so that a self-join renews its column like any other. It is
  * marked nondeterministic, so that no rule moves or duplicates it before it has its value.
  */
final case class IngestionTime() extends LeafExpression with Unevaluable {
  override lazy val deterministic: Boolean = false
  override def dataType: DataType = TimestampType
  override def nullable: Boolean = false
}

/** Replaces the ingestion time with its value. While a query runs, Spark optimizes each micro-batch
  * on the query's thread, where the rule finds the batch. Elsewhere (`explain`) there is no batch,
  * and the time is 1970.
  */
final case class FillIngestionTime(session: SparkSession) extends Rule[LogicalPlan] {

  override def apply(plan: LogicalPlan): LogicalPlan =
    plan.transformAllExpressions { case IngestionTime() => Literal(micros, TimestampType) }

  // At least one millisecond past the watermark, because a clock that goes back must not make a row
  // late. Spark treats a plain timestamp that equals the watermark as late.
  private def micros: Long =
    StreamExecutionAccess.current(session).map(_.batch).fold(0L) { batch =>
      math.max(batch.timestampMs, batch.watermarkMs + 1) * 1000
    }
}
