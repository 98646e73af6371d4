package io.eventtide.spark.operators.window

import org.apache.spark.TaskContext
import org.apache.spark.rdd.RDD
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.classic.SparkSession
import org.apache.spark.sql.execution.streaming.state.{StateStoreConf, StateStoreId}
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.util.SerializableConfiguration

import io.eventtide.spark.operators.{BatchTime, WindowOperatorSpec}

/** Reads a window's state as of a committed batch, whether or not its query is running.
  *
  * @param stateRoot
  *   the directory `state` of the checkpoint
  * @param stateIds
  *   the ids of the state store checkpoints, by partition; None for checkpoint format 1
  */
private[spark] final case class StateReader(
    spec: WindowOperatorSpec,
    stateRoot: String,
    operatorId: Long,
    partitions: Int,
    batchId: Long,
    stateIds: Option[Array[Array[String]]]
) {

  /** One row for each window that can still change. */
  def rows(session: SparkSession): RDD[InternalRow] = {
    val families = spec.families
    val shown = BatchTime.EndOfInput.copy(isPeek = true)
    val task = WindowTaskSpec(spec, batchId, shown)
    val settings = session.sessionState.conf.clone()
    settings.setConf(SQLConf.STATE_STORE_CHECKPOINT_FORMAT_VERSION, if (stateIds.isEmpty) 1 else 2)
    val conf = new StateStoreConf(settings)
    val hadoopConf = new SerializableConfiguration(session.sessionState.newHadoopConf())
    val (root, operator, version, ids) = (stateRoot, operatorId, batchId + 1, stateIds)
    session.sparkContext.parallelize(0 until partitions, partitions).mapPartitionsWithIndex {
      (partition, _) =>
        // Not from the pool of running stores, whose maintenance would modify the checkpoint.
        val id = StateStoreId(root, operator, partition)
        val provider = families.provider(id, conf, hadoopConf.value)
        TaskContext.get().addTaskCompletionListener[Unit](_ => provider.close())
        val store = provider.getStore(version, ids.map(_.apply(partition).head))
        TaskContext.get().addTaskCompletionListener[Unit](_ => store.abort())
        new StateWindowIterator(task, store).map(_.copy())
    }
  }
}
