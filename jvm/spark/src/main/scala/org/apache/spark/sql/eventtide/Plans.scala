package org.apache.spark.sql.eventtide

import org.apache.spark.rdd.RDD
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.Attribute
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.classic.{DataFrame, Dataset, SparkSession}
import org.apache.spark.sql.execution.LogicalRDD
import org.apache.spark.sql.types.StructType

object Plans {

  /** A batch without rows, of which Spark does not know that it has none. */
  def empty(session: SparkSession, columns: Seq[Attribute]): LogicalPlan =
    LogicalRDD(columns, session.sparkContext.emptyRDD)(session)

  def dataFrame(session: SparkSession, plan: LogicalPlan): DataFrame =
    Dataset.ofRows(session, plan)

  /** The one value of a plan of one column, null where it has no row. */
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
