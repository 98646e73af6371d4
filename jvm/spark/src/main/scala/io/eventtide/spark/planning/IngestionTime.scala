package io.eventtide.spark.planning

import org.apache.spark.sql.catalyst.expressions.{LeafExpression, Literal, Unevaluable}
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.classic.SparkSession
import org.apache.spark.sql.eventtide.StreamExecutionAccess
import org.apache.spark.sql.types.{DataType, TimestampType}

/** The time at which a batch was made: one value a batch, which `FillIngestionTime` puts in.
  *
  * An expression under an alias, so that a self-join renews its column like any other. It passes for
  * nondeterministic, so that no rule moves or doubles it before it has its value.
  */
final case class IngestionTime() extends LeafExpression with Unevaluable {
  override lazy val deterministic: Boolean = false
  override def dataType: DataType = TimestampType
  override def nullable: Boolean = false
}

/** Gives the ingestion time its value. While a query runs, Spark optimizes each micro-batch anew on
  * the query's own thread, which is where the batch is found; elsewhere (`explain`) there is none,
  * and the time is 1970.
  */
final case class FillIngestionTime(session: SparkSession) extends Rule[LogicalPlan] {

  override def apply(plan: LogicalPlan): LogicalPlan =
    plan.transformAllExpressions { case IngestionTime() => Literal(micros, TimestampType) }

  // One past the watermark at least: a clock that goes back must not make a row late, and Spark
  // takes a bare time that equals the watermark for late.
  private def micros: Long =
    StreamExecutionAccess.current(session).map(_.batch).fold(0L) { batch =>
      math.max(batch.timestampMs, batch.watermarkMs + 1) * 1000
    }
}
