package io.eventtide.spark.state

import java.nio.file.Files

import org.apache.hadoop.conf.Configuration
import org.apache.spark.sql.execution.streaming.state.{
  StateStore,
  StateStoreConf,
  StateStoreId,
  StateStoreProvider
}
import org.apache.spark.sql.internal.SQLConf
import org.scalatest.{BeforeAndAfterAll, Suite}

/** One partition's state in RocksDB, which a suite changes in batches. */
private[state] trait PartitionBatches extends BeforeAndAfterAll { this: Suite =>
  protected def families: WindowStateLayout

  protected def newProvider(families: WindowStateLayout): StateStoreProvider = {
    val conf = new SQLConf
    conf.setConf(
      SQLConf.STATE_STORE_PROVIDER_CLASS,
      "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"
    )
    val id = StateStoreId(Files.createTempDirectory("partition").toString, 0, 0)
    families.provider(id, new StateStoreConf(conf), new Configuration)
  }

  private lazy val provider = newProvider(families)

  /** The version of the state before the next batch. */
  protected var version = 0L

  override protected def afterAll(): Unit = provider.close()

  protected def inBatch[A](work: StateStore => A): A = {
    val store = provider.getStore(version)
    try {
      val result = work(store)
      store.commit(): Unit
      version += 1
      result
    } catch {
      case error: Throwable =>
        store.abort()
        throw error
    }
  }
}
