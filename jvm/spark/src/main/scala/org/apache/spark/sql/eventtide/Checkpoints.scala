package org.apache.spark.sql.eventtide

import org.apache.spark.sql.classic.SparkSession
import org.apache.spark.sql.execution.streaming.checkpointing.CommitLog

/** Read access to the package-private parts of a query's checkpoint. */
object Checkpoints {

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
