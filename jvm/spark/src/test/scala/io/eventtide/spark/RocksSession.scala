package io.eventtide.spark

import org.scalatest.{BeforeAndAfterAll, Suite}

/** A local session with the state store that windows need. */
trait RocksSession extends LocalSession { this: Suite with BeforeAndAfterAll =>

  override protected def beforeAll(): Unit = {
    super.beforeAll()
    spark.conf.set(
      "spark.sql.streaming.stateStore.providerClass",
      "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"
    )
  }
}
