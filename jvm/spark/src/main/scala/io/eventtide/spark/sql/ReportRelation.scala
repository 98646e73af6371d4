package io.eventtide.spark.sql

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.analysis.MultiInstanceRelation
import org.apache.spark.sql.catalyst.expressions.Attribute
import org.apache.spark.sql.catalyst.plans.logical.{
  LeafNode,
  LocalRelation,
  LogicalPlan,
  Statistics
}
import org.apache.spark.sql.catalyst.types.DataTypeUtils.toAttributes
import org.apache.spark.sql.classic.SparkSession
import org.apache.spark.sql.execution.{SparkPlan, SparkStrategy}
import org.apache.spark.sql.types.StructType

import io.eventtide.spark.EventtideException

/** A report, as rows. */
private[sql] trait Report {
  def schema: StructType

  /** The rows at the present time. */
  def rows(session: SparkSession): Seq[InternalRow]
}

/** A report in a plan. Its rows are made when a query is planned, by the session of that query. So a
  * view has the present state each time it is read, and shows a session its own queries only.
  */
private[sql] final case class ReportRelation(report: Report, output: Seq[Attribute])
    extends LeafNode
    with MultiInstanceRelation {

  /** The rows; errors point at the call in the text. */
  def rows(session: SparkSession): Seq[InternalRow] =
    try report.rows(session)
    catch { case error: EventtideException => throw error.at(origin.getQueryContext.headOption) }

  override def newInstance(): LogicalPlan = copy(output = output.map(_.newInstance()))

  override def computeStats(): Statistics = Statistics(sizeInBytes = output.length.toLong * 8)
}

private[sql] object ReportRelation {
  def apply(report: Report): ReportRelation = ReportRelation(report, toAttributes(report.schema))
}

private[sql] final case class ReportStrategy(session: SparkSession) extends SparkStrategy {
  override def apply(plan: LogicalPlan): Seq[SparkPlan] = plan match {
    case relation: ReportRelation =>
      Seq(planLater(LocalRelation(relation.output, relation.rows(session))))
    case _ => Nil
  }
}
