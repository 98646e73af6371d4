package io.eventtide.spark.exec

import org.apache.spark.rdd.RDD
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{Attribute, Literal, UnsafeProjection}
import org.apache.spark.sql.execution.{SparkPlan, UnaryExecNode}

/** Adds the batch's ingestion time, in microseconds, as a last column. */
final case class IngestionTimeExec(column: Attribute, timeMicros: Long, child: SparkPlan)
    extends UnaryExecNode {

  override def output: Seq[Attribute] = child.output :+ column

  override protected def doExecute(): RDD[InternalRow] = {
    val added = child.output :+ Literal(timeMicros, column.dataType)
    val input = child.output
    child.execute().mapPartitions(_.map(UnsafeProjection.create(added, input)))
  }

  override protected def withNewChildInternal(newChild: SparkPlan): IngestionTimeExec =
    copy(child = newChild)
}
