package org.apache.spark.sql.eventtide

import java.lang.reflect.Field

import org.apache.spark.rdd.RDD
import org.apache.spark.sql.Column
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{Alias, Attribute, Expression, NamedExpression}
import org.apache.spark.sql.catalyst.optimizer.NormalizeFloatingNumbers
import org.apache.spark.sql.catalyst.plans.logical.{LocalRelation, LogicalPlan}
import org.apache.spark.sql.classic.{
  ColumnNodeToExpressionConverter,
  DataFrame,
  Dataset,
  ExpressionUtils,
  SparkSession
}
import org.apache.spark.sql.execution.LogicalRDD
import org.apache.spark.sql.execution.streaming.Source
import org.apache.spark.sql.execution.streaming.checkpointing.CommitLog
import org.apache.spark.sql.execution.streaming.runtime.StreamingExecutionRelation
import org.apache.spark.sql.execution.streaming.state.StateStoreProviderId
import org.apache.spark.sql.internal.{Alias => ColumnAlias}
import org.apache.spark.sql.streaming.{DataStreamWriter, Trigger}
import org.apache.spark.sql.types.StructType

/** Access to the package-private parts of Spark that are the same in all supported versions. */
object SparkInternals {

  def dataFrame(session: SparkSession, plan: LogicalPlan): DataFrame =
    Dataset.ofRows(session, plan)

  def dataFrame(session: SparkSession, rows: RDD[InternalRow], schema: StructType): DataFrame =
    session.internalCreateDataFrame(rows, schema)

  /** The column of an expression over another column. */
  def column(of: Column)(expression: Expression => Expression): Column =
    column(expression(SparkInternals.expression(of)))

  def column(expression: Expression): Column = ExpressionUtils.column(expression)

  def expression(column: Column): Expression = ExpressionUtils.expression(column)

  /** The id of a session, which its streaming queries keep. */
  def sessionId(session: SparkSession): String = session.sessionUUID

  /** The id of a plan of Spark Connect, by which a client names the columns of a DataFrame. */
  def planId(plan: LogicalPlan): Option[Long] = plan.getTagValue(LogicalPlan.PLAN_ID_TAG)

  def setPlanId(plan: LogicalPlan, id: Long): Unit = plan.setTagValue(LogicalPlan.PLAN_ID_TAG, id)

  /** An empty batch that the optimizer does not recognize as empty. */
  def empty(session: SparkSession, columns: Seq[Attribute]): LogicalPlan =
    LogicalRDD(columns, session.sparkContext.emptyRDD)(session)

  /** The value of a plan with one column and at most one row; null if there is no row. */
  def value(session: SparkSession, plan: LogicalPlan): Any = {
    val kind = plan.output.head.dataType
    dataFrame(session, plan).queryExecution.executedPlan.executeTake(1) match {
      case Array(row) => row.get(0, kind)
      case _ => null
    }
  }

  /** The alias, the text and the unresolved expression of a column; None without an alias. */
  def named(column: Column): Option[(String, String, Expression)] = column.node match {
    case ColumnAlias(child, Seq(name), _, _) =>
      Some((name, child.sql, ColumnNodeToExpressionConverter(child)))
    case _ => None
  }

  /** The DataFrame that a writer writes, which is private in Spark's class. */
  def written(writer: DataStreamWriter[_]): Dataset[_] =
    privateField(writer, "ds").get(writer).asInstanceOf[Dataset[_]]

  /** Runs `start` while a writer has another trigger. */
  def triggered[A](writer: DataStreamWriter[_], trigger: Trigger)(start: => A): A = {
    val field = privateField(writer, "trigger")
    val own = field.get(writer)
    field.set(writer, trigger)
    try start
    finally field.set(writer, own)
  }

  private def privateField(writer: DataStreamWriter[_], name: String): Field = {
    val field = writer.getClass.getDeclaredField(name)
    field.setAccessible(true)
    field
  }

  /** The stream of a source of Spark's first API. */
  def streamOf(session: SparkSession, source: Source): LogicalPlan =
    StreamingExecutionRelation(source, session)

  /** The rows of a source in a micro-batch without rows. */
  def noRows(session: SparkSession, columns: Seq[Attribute]): DataFrame =
    dataFrame(session, LocalRelation(columns, isStreaming = true))

  /** The executor that has a state store open. */
  def storeLocation(session: SparkSession, store: StateStoreProviderId): Option[String] =
    session.streams.stateStoreCoordinator.getLocation(store)

  /** A grouping key normalized as by Spark: 0.0 and -0.0 are one group, and so are all NaNs. */
  def normalized(key: NamedExpression): NamedExpression =
    NormalizeFloatingNumbers.normalize(key) match {
      case same: NamedExpression => same
      case other => Alias(other, key.name)(key.exprId)
    }

  /** The state store checkpoint ids of an operator after a batch; None in checkpoint format version
    * 1.
    */
  def stateIds(
      session: SparkSession,
      root: String,
      batchId: Long,
      operatorId: Long
  ): Option[Array[Array[String]]] =
    new CommitLog(session, s"$root/commits")
      .get(batchId)
      .flatMap(_.stateUniqueIds)
      .flatMap(_.get(operatorId))
}
