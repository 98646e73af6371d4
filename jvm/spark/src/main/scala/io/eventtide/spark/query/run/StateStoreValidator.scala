package io.eventtide.spark.query.run

import org.apache.spark.sql.classic.SparkSession
import org.apache.spark.sql.internal.SQLConf

import io.eventtide.spark.EventtideException

/** Checks whether the settings of a session support the state of windows. */
private[spark] object StateStoreValidator {

  /** Refuses a state store other than RocksDB: windows need ordered column families. */
  def rocksDb(session: SparkSession): Unit = {
    val provider = session.sessionState.conf.stateStoreProviderClass
    if (!provider.endsWith("RocksDBStateStoreProvider")) {
      throw EventtideException(
        "STATE_STORE_UNSUPPORTED",
        "setting" -> SQLConf.STATE_STORE_PROVIDER_CLASS.key,
        "provider" -> provider
      )
    }
  }

  /** Refuses a session in which Spark uses one watermark for both late rows and eviction. */
  def severalOperators(session: SparkSession): Unit = {
    val setting = SQLConf.STATEFUL_OPERATOR_ALLOW_MULTIPLE
    if (!session.sessionState.conf.getConf(setting))
      throw EventtideException("ALLOW_MULTIPLE_OFF", "setting" -> setting.key)
  }
}
