package io.eventtide.spark.state

import scala.reflect.ClassTag

import org.apache.spark.broadcast.Broadcast
import org.apache.spark.rdd.RDD
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.classic.SparkSession
import org.apache.spark.sql.eventtide.SparkInternals
import org.apache.spark.sql.execution.streaming.operators.stateful.StatefulOperatorStateInfo
import org.apache.spark.sql.execution.streaming.state.{
  RocksDBConf,
  StateStore,
  StateStoreConf,
  StateStoreId,
  StateStoreProviderId
}
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.util.SerializableConfiguration
import org.apache.spark.{Partition, TaskContext}

/** Combines rows with the state of their partitions, in stores that do not count their rows.
  *
  * To count its rows, a store reads each row before it writes it, which is half of all its reads. A
  * window counts its keys without the store. An explicit setting of the session takes precedence.
  *
  * Spark's `StateStoreRDD` would serialize and broadcast the configuration of Hadoop in each batch,
  * which is a tenth of a batch with few rows.
  *
  * @param stateRoot
  *   the folder of the state, which may differ from the folder of the schema in `info`
  */
private[spark] final class WindowStateStoreRDD[A: ClassTag](
    rows: RDD[A],
    families: WindowStateLayout,
    info: StatefulOperatorStateInfo,
    stateRoot: String,
    hadoopConf: Broadcast[SerializableConfiguration],
    @transient private val session: SparkSession
)(task: (StateStore, Iterator[A]) => Iterator[InternalRow])
    extends RDD[InternalRow](rows) {

  private val storeConf = new StateStoreConf(
    WindowStateStoreRDD.settings(session.sessionState.conf)
  )

  override protected def getPartitions: Array[Partition] = firstParent[A].partitions

  /** The executor that has the store of the partition open. */
  override protected def getPreferredLocations(partition: Partition): Seq[String] =
    SparkInternals.storeLocation(session, storeId(partition)).toSeq

  private def storeId(partition: Partition) = StateStoreProviderId(
    StateStoreId(stateRoot, info.operatorId, partition.index),
    info.queryRunId
  )

  override def compute(partition: Partition, context: TaskContext): Iterator[InternalRow] = {
    val input = firstParent[A].iterator(partition, context)
    val store = open(partition)
    context.addTaskCompletionListener[Unit](_ => close(partition, store))
    task(store, input)
  }

  private def open(partition: Partition): StateStore = StateStore.get(
    storeId(partition),
    families.keys,
    families.windowState,
    families.windowStateKey,
    info.storeVersion,
    info.stateStoreCkptIds.map(_(partition.index).head),
    info.stateSchemaMetadata,
    useColumnFamilies = true,
    storeConf,
    hadoopConf.value.value,
    useMultipleValuesPerKey = false
  )

  private def close(partition: Partition, store: StateStore): Unit = {
    if (!store.hasCommitted) store.abort()
    if (storeConf.unloadOnCommit) StateStore.doMaintenanceAndUnload(storeId(partition))
  }
}

private[spark] object WindowStateStoreRDD {
  private val Counting = s"${RocksDBConf.ROCKSDB_SQL_CONF_NAME_PREFIX}.trackTotalNumberOfRows"

  private[state] def settings(conf: SQLConf): SQLConf = {
    val own = conf.clone()
    if (!own.contains(Counting)) own.setConfString(Counting, "false")
    own
  }
}
