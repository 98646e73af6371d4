package io.eventtide.spark

import org.apache.spark.sql.functions.{col, count, expr, lit}
import org.apache.spark.sql.{DataFrame, SparkSession}

/** Windows over a stream that never ends, whose every tenth row is half a minute late. */
private[spark] object RateWindows {

  /** Each batch has the next second, with columns `ts`, `value` and the key `k`. */
  def events(spark: SparkSession, rowsPerBatch: Int): DataFrame = {
    val rate = spark.readStream.format("rate-micro-batch").option("rowsPerBatch", rowsPerBatch)
    val rows = rate.option("startTimestamp", 1704067200000L).option("advanceMillisPerBatch", 1000)
    val ms = "unix_millis(timestamp) - if(value % 10 = 9, 30000, 0)"
    rows
      .load()
      .select(expr(s"timestamp_millis($ms)").as("ts"), col("value"), expr("value % 3").as("k"))
  }

  /** The number of rows of each key, with a lag of a second. */
  def counts(events: DataFrame, size: String = "PT2S"): DataFrame = RequestedWindow(
    events,
    "ts",
    Map("policy" -> "with_fixed_lag", "lag" -> "PT1S"),
    Seq(col("k")),
    Seq(count(lit(1)).as("n")),
    Map("kind" -> "tumbling", "size" -> size)
  )
}
