package io.eventtide.spark.state

import scala.reflect.ClassTag

import org.apache.spark.TaskContext
import org.apache.spark.rdd.RDD
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.classic.SparkSession
import org.apache.spark.sql.eventtide.SparkInternals
import org.apache.spark.sql.execution.streaming.operators.stateful.StatefulOperatorStateInfo
import org.apache.spark.sql.execution.streaming.state.{
  RocksDBConf,
  StateStore,
  StateStoreConf,
  StateStoreRDD
}
import org.apache.spark.sql.internal.SQLConf

/** Combines rows with the state of their partitions, in stores that do not count their rows.
  *
  * To count its rows, a store reads each row before it writes it, which is half of all its reads. A
  * window counts its keys without the store. An explicit setting of the session takes precedence.
  *
  * @param stateRoot
  *   the folder of the state, which may differ from the folder of the schema in `info`
  */
private[spark] final class WindowStateStoreRDD[A: ClassTag](
    rows: RDD[A],
    families: WindowStateLayout,
    info: StatefulOperatorStateInfo,
    stateRoot: String,
    session: SparkSession
)(task: (StateStore, Iterator[A]) => Iterator[InternalRow])
    extends StateStoreRDD[A, InternalRow](
      rows,
      WindowStateStoreRDD.abortingIfFailed(task),
      stateRoot,
      info.queryRunId,
      info.operatorId,
      info.storeVersion,
      info.stateStoreCkptIds,
      info.stateSchemaMetadata,
      families.keys,
      families.windowState,
      families.windowStateKey,
      session.sessionState,
      Some(SparkInternals.stateCoordinator(session)),
      useColumnFamilies = true
    ) {
  override protected val storeConf: StateStoreConf =
    new StateStoreConf(WindowStateStoreRDD.settings(session.sessionState.conf))
}

private[spark] object WindowStateStoreRDD {
  private val Counting = s"${RocksDBConf.ROCKSDB_SQL_CONF_NAME_PREFIX}.trackTotalNumberOfRows"

  private[state] def settings(conf: SQLConf): SQLConf = {
    val own = conf.clone()
    if (!own.contains(Counting)) own.setConfString(Counting, "false")
    own
  }

  private def abortingIfFailed[A](
      task: (StateStore, Iterator[A]) => Iterator[InternalRow]
  ): (StateStore, Iterator[A]) => Iterator[InternalRow] = (store, rows) => {
    TaskContext.get().addTaskCompletionListener[Unit] { _ =>
      if (!store.hasCommitted) store.abort()
    }
    task(store, rows)
  }
}
