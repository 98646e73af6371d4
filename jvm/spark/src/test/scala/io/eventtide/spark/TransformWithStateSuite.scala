package io.eventtide.spark

import java.nio.file.Files
import java.sql.Timestamp
import java.time.Duration

import org.apache.spark.sql.classic
import org.apache.spark.sql.streaming.TTLConfig
import org.apache.spark.sql.streaming.{
  ExpiredTimerInfo,
  OutputMode,
  StatefulProcessor,
  TimeMode,
  TimerValues,
  ValueState
}
import org.apache.spark.sql.types.StructType
import org.apache.spark.sql.{Encoders, Row}
import org.scalatest.funsuite.AnyFunSuite

import io.eventtide.spark.api.PythonApi
import io.eventtide.spark.testkit.{ScriptProvider, ScriptSource}

/** Counts a device's events, and says the count ten seconds after its first one, by event time. */
private class CountThenExpire
    extends StatefulProcessor[String, (Timestamp, String), (String, Long)] {
  @transient private var count: ValueState[Long] = _

  override def init(mode: OutputMode, time: TimeMode): Unit =
    count = getHandle.getValueState[Long]("count", Encoders.scalaLong, TTLConfig.NONE)

  override def handleInputRows(
      device: String,
      rows: Iterator[(Timestamp, String)],
      timers: TimerValues
  ): Iterator[(String, Long)] = {
    rows.foreach { case (time, _) =>
      if (!count.exists()) getHandle.registerTimer(time.getTime + 10000)
      count.update(Option(count.get()).getOrElse(0L) + 1)
    }
    Iterator.empty
  }

  override def handleExpiredTimer(
      device: String,
      timers: TimerValues,
      expired: ExpiredTimerInfo
  ): Iterator[(String, Long)] = {
    val counted = count.get()
    count.clear()
    Iterator(device -> counted)
  }
}

class TransformWithStateSuite extends AnyFunSuite with LocalSession {

  test("event-time timers of transformWithState fire by a policy's watermark, in a lull too") {
    spark.conf.set(
      "spark.sql.streaming.stateStore.providerClass",
      "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"
    )
    val script = ScriptSource.create(StructType.fromDDL("ts timestamp, device string"))
    val stream =
      spark.readStream.format(classOf[ScriptProvider].getName).option("script", script.id).load()
    val lull = WatermarkPolicy
      .limitingLagAndLull(Duration.ofSeconds(2), Duration.ofSeconds(5))
      .throttleByFrame(Duration.ofSeconds(1))
    val session = spark
    import session.implicits._
    val counted = Eventtide
      .withWatermark(stream, "ts", lull)
      .as[(Timestamp, String)]
      .groupByKey(_._2)
      .transformWithState(new CountThenExpire, TimeMode.EventTime(), OutputMode.Append())
      .toDF()
    val checkpoint = Files.createTempDirectory("checkpoint").toString
    val query = PythonApi.scriptedQuery(counted, "append", checkpoint, startMs = 0)
    query.start(availableNow = false)
    try {
      val rows = spark
        .createDataFrame(Seq((1L, "a"), (3L, "a"), (4L, "b")))
        .selectExpr("timestamp_seconds(_1) as ts", "_2 as device")
      script.add(rows.asInstanceOf[classic.DataFrame])
      query.awaitIdle()
      assert(query.newResults().collect().isEmpty && query.watermarkMs == 2000)
      query.setClock(15000)
      query.awaitIdle()
      assert(query.newResults().collect().toSeq == Seq(Row("a", 2L)) && query.watermarkMs == 12000)
    } finally query.stop()
  }
}
