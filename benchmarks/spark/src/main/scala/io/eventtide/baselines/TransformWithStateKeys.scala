package io.eventtide.baselines

import org.apache.spark.sql.DataFrame
import org.apache.spark.sql.streaming.{OutputMode, TimeMode}

/** Count, sum and maximum in tumbling windows of keys that have a watermark each, as a user of Spark
  * would write them with `transformWithState`.
  */
object TransformWithStateKeys {

  /** The results over a stream with columns `ts`, `key` and `value`.
    *
    * @param idleMillis
    *   after so long without a row all windows of a key close; 0 for never
    * @param idleByEvents
    *   whether the watermark on `ts` is the clock for that
    */
  def apply(
      events: DataFrame,
      sizeMillis: Long,
      idleMillis: Long,
      idleByEvents: Boolean
  ): DataFrame = {
    val session = events.sparkSession
    import session.implicits._
    val idle = Option.when(idleMillis > 0)(IdleTimeout(idleMillis, idleByEvents))
    val time = idle match {
      case None => TimeMode.None()
      case Some(IdleTimeout(_, true)) => TimeMode.EventTime()
      case Some(_) => TimeMode.ProcessingTime()
    }
    events
      .selectExpr("ts", "key", "value", "unix_millis(ts) AS millis")
      .groupBy("key")
      .as[Int, Event]
      .transformWithState(new KeyTimeProcessor(sizeMillis, idle), time, OutputMode.Append())
      .toDF()
  }
}
