package io.eventtide.spark.state

import scala.reflect.ClassTag

import org.apache.spark.rdd.RDD
import org.apache.spark.sql.classic.SparkSession
import org.apache.spark.sql.eventtide.SparkShims
import org.apache.spark.sql.execution.streaming.state.{
  StateStore,
  StateStoreConf,
  StateStoreId,
  StateStoreProvider
}
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.util.SerializableConfiguration
import org.apache.spark.{Partitioner, TaskContext}

/** The state of a window as of a version, whether or not its query is running.
  *
  * @param root
  *   the folder of the state, with a folder for each operator
  * @param ids
  *   the ids of the state store checkpoints, by partition; None for checkpoint format 1
  */
private[spark] final case class StoredState(
    families: WindowStateLayout,
    root: String,
    operatorId: Long,
    version: Long,
    partitions: Int,
    ids: Option[Array[Array[String]]]
) {

  /** Reads all partitions.
    *
    * @param settings
    *   the settings of the stores, apart from the checkpoint format
    */
  def read[A: ClassTag](session: SparkSession, settings: SQLConf)(
      content: StateStore => Iterator[A]
  ): RDD[A] = {
    val stores = this.stores(session, settings)
    val (last, ids) = (version, this.ids)
    session.sparkContext.parallelize(0 until partitions, partitions).mapPartitionsWithIndex {
      (partition, _) =>
        content(stores.open(partition)(_.getStore(last, ids.map(_.apply(partition).head))))
    }
  }

  /** Writes the state to another folder, with other partitions; returns that state.
    *
    *   - '''Guarantee:''' the partition of a key is the partition to which Spark's shuffle sends
    *     its rows. Partitions that already exist in the folder are replaced.
    */
  def copyTo(
      root: String,
      partitions: Int,
      session: SparkSession,
      settings: SQLConf
  ): StoredState = {
    val layout = families
    val before = version - 1
    val stores = copy(root = root).stores(session, WindowStateStoreRDD.settings(settings))
    val records = read(session, settings)(new StateRecords(layout, partitions).of(_))
    val placed = records.repartitionAndSortWithinPartitions(new PlacePartitioner(partitions))
    val written = placed
      .mapPartitionsWithIndex { (partition, rows) =>
        val store = stores.open(partition)(SparkShims.emptyStore(_, before))
        StateRecords.write(store, layout, rows.map(_._2))
        store.commit(): Unit
        Iterator(store.getStateStoreCheckpointInfo().stateStoreCkptId)
      }
      .collect()
    copy(root = root, partitions = partitions, ids = ids.map(_ => written.map(_.toArray)))
  }

  private def stores(session: SparkSession, settings: SQLConf): TaskStores = {
    val conf = settings.clone()
    conf.setConf(SQLConf.STATE_STORE_CHECKPOINT_FORMAT_VERSION, if (ids.isEmpty) 1 else 2)
    val hadoopConf = new SerializableConfiguration(session.sessionState.newHadoopConf())
    new TaskStores(families, root, operatorId, new StateStoreConf(conf), hadoopConf)
  }
}

/** Opens the stores of an operator in tasks. */
private final class TaskStores(
    families: WindowStateLayout,
    root: String,
    operatorId: Long,
    conf: StateStoreConf,
    hadoopConf: SerializableConfiguration
) extends Serializable {

  /** The store of a partition, which is closed at the end of the task. */
  def open(partition: Int)(load: StateStoreProvider => StateStore): StateStore = {
    // Not from the pool of running stores, whose maintenance would modify the checkpoint.
    val provider =
      families.provider(StateStoreId(root, operatorId, partition), conf, hadoopConf.value)
    TaskContext.get().addTaskCompletionListener[Unit](_ => provider.close())
    val store = load(provider)
    TaskContext.get().addTaskCompletionListener[Unit] { _ =>
      if (!store.hasCommitted) store.abort()
    }
    store
  }
}

private final class PlacePartitioner(override val numPartitions: Int) extends Partitioner {
  override def getPartition(place: Any): Int = place match {
    case (partition: Int, _) => partition
    case other => throw new IllegalStateException(s"no place: $other")
  }
}
