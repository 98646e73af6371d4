package org.apache.spark.sql.eventtide

import org.apache.spark.rdd.RDD
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.Attribute
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.classic.{DataFrame, Dataset, SparkSession}
import org.apache.spark.sql.execution.LogicalRDD
import org.apache.spark.sql.types.StructType

object Plans {

  /** An empty batch that the optimizer does not recognize as empty. */
  def empty(session: SparkSession, columns: Seq[Attribute]): LogicalPlan =
    LogicalRDD(columns, session.sparkContext.emptyRDD)(session)

  def dataFrame(session: SparkSession, plan: LogicalPlan): DataFrame =
    Dataset.ofRows(session, plan)

  /** The value of a plan with one column and at most one row; null if there is no row. */
  def value(session: SparkSession, plan: LogicalPlan): Any = {
    val kind = plan.output.head.dataType
    dataFrame(session, plan).queryExecution.executedPlan.executeTake(1) match {
      case Array(row) => row.get(0, kind)
      case _ => null
    }
  }

  def dataFrame(session: SparkSession, rows: RDD[InternalRow], schema: StructType): DataFrame =
    session.internalCreateDataFrame(rows, schema)
}
