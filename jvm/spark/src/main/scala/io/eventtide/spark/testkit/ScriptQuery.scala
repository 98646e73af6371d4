package io.eventtide.spark.testkit

import org.apache.spark.sql.classic.DataFrame
import org.apache.spark.sql.eventtide.TestQuery

import io.eventtide.spark.EventtideException

/** Makes the query of a script. */
private[spark] object ScriptQuery {

  /** @param checkpoint
    *   an empty folder, or the checkpoint of an earlier run of the same query
    */
  def of(
      result: DataFrame,
      outputMode: String,
      checkpoint: String,
      startMs: Long,
      realTime: Boolean
  ): TestQuery = {
    if (realTime && TestQuery.runsInRealTime) throw EventtideException("REAL_TIME_SCRIPT")
    new TestQuery(result, outputMode, checkpoint, startMs, realTime)
  }
}
