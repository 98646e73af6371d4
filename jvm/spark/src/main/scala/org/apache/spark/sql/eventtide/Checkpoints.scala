package org.apache.spark.sql.eventtide

import org.apache.spark.sql.classic.SparkSession
import org.apache.spark.sql.execution.streaming.checkpointing.CommitLog

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
}
