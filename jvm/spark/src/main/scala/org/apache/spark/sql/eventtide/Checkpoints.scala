package org.apache.spark.sql.eventtide

import org.apache.spark.rdd.RDD
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.classic.{DataFrame, SparkSession}
import org.apache.spark.sql.execution.streaming.checkpointing.CommitLog
import org.apache.spark.sql.types.StructType

/** What others may read of a query's checkpoint. */
object Checkpoints {

  /** Names of the checkpoints of operators' state after a batch; none in the first format. */
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

  /** Rows as a DataFrame. */
  def dataFrame(session: SparkSession, rows: RDD[InternalRow], schema: StructType): DataFrame =
    session.internalCreateDataFrame(rows, schema)
}
