package io.eventtide.spark

import io.eventtide.spark.checkpoint.AtomicCheckpointFileManager

/** The settings of a session that Eventtide needs, or recommends. */
private[spark] object SessionSettings {
  private val StateStore = "spark.sql.streaming.stateStore"

  /** As `et.configure` in Python: in version 2 of Spark's state format, two drivers on one checkpoint
    * never write the same file. With changelogs, a batch writes only its changes to the state.
    * In version 2, a changelog lists all versions since the last uploaded snapshot, in at most 64 KiB:
    * about 850 versions. Between two runs of the maintenance there have to be fewer batches.
    * Spark's check of new checkpoints rejects the checkpoint of a driver that was killed in its first
    * batch.
    */
  private val Defaults: Seq[(String, String)] = Seq(
    s"$StateStore.providerClass" ->
      "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider",
    s"$StateStore.checkpointFormatVersion" -> "2",
    s"$StateStore.rocksdb.changelogCheckpointing.enabled" -> "true",
    s"$StateStore.maintenanceInterval" -> "10s",
    "spark.sql.streaming.checkpointFileManagerClass" ->
      classOf[AtomicCheckpointFileManager].getName,
    "spark.sql.streaming.verifyCheckpointDirectoryEmptyOnStart" -> "false"
  )

  // As REAL_TIME of the Python package; docs/how-to/real-time.md gives the reasons.
  private val RealTime: Seq[(String, String)] = Seq(
    "spark.sql.streaming.realTimeMode.allowlistCheck" -> "false",
    "spark.sql.execution.sortBeforeRepartition" -> "false",
    "spark.shuffle.streaming.networkBufferMaxWaitTimeMs" -> "1"
  )

  /** @param realTime
    *   whether queries run in real-time mode
    */
  def of(realTime: Boolean): Seq[(String, String)] =
    if (realTime) Defaults ++ RealTime else Defaults
}
