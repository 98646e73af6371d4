package io.eventtide.spark.exec

import java.util.UUID

import org.apache.spark.rdd.RDD
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.types.DataTypeUtils
import org.apache.spark.sql.classic.SparkSession
import org.apache.spark.sql.execution.streaming.operators.stateful.StatefulOperatorStateInfo

import io.eventtide.kernel.window.FrameRing
import io.eventtide.spark.state.FrameFamilies

/** Reads a window's state as of a committed batch, whether its query runs or not.
  *
  * @param stateRoot
  *   the folder `state` of the checkpoint
  * @param stateIds
  *   names of the checkpoints of its state; None in the first format
  */
private[spark] final case class StateReader(
    plan: WindowPlan,
    stateRoot: String,
    operatorId: Long,
    partitions: Int,
    batchId: Long,
    stateIds: Option[Array[Array[String]]]
) {

  /** A row for each open window. */
  def rows(session: SparkSession): RDD[InternalRow] = {
    val families = FrameFamilies(DataTypeUtils.fromAttributes(plan.keys))
    val nothing = ClosedUpTo(Long.MinValue, Long.MinValue)
    val all = ClosedUpTo(FrameRing.Never, FrameRing.Never)
    val task = WindowTask(plan, families, Nil, batchId, nowMicros = 0, nothing, all)
    // A run of its own: it loads the state for itself, and what it does to it is never committed.
    val info = StatefulOperatorStateInfo(
      stateRoot,
      UUID.randomUUID(),
      operatorId,
      batchId + 1,
      partitions,
      stateSchemaMetadata = None,
      stateIds
    )
    val nobody = session.sparkContext.parallelize(Seq.empty[Int], partitions)
    families.over(nobody, info, session)((store, _) => new OpenWindows(task, store).map(_.copy()))
  }
}
