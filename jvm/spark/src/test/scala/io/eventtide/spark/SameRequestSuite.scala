package io.eventtide.spark

import java.nio.file.Files
import java.util.{List => JList, Map => JMap}

import scala.jdk.CollectionConverters._

import org.apache.spark.sql.functions.{col, count, lit}
import org.apache.spark.sql.types.StructType
import org.apache.spark.sql.{Column, DataFrame, Row}
import org.scalatest.funsuite.AnyFunSuite

import io.eventtide.spark.api.PythonApi
import io.eventtide.spark.planning.WindowAggregate
import io.eventtide.spark.testkit.ScriptSource

/** What Python requests, through the calls that it makes, and what Scala builds are the same query. */
class SameRequestSuite extends AnyFunSuite with RocksSession {

  // As Python writes et.window(events).event_time("ts", limiting_lag_and_lull("2s", max_lull="30s"),
  // substream="device").key_by("device").sliding("1m", every="20s").late_rule("frame_closed").agg(n)
  private def inPython(events: DataFrame): DataFrame = {
    val options = Map(
      "request" -> "window",
      "id" -> "1f0e7c5a-6c0b-4a37-9e55-0a8f6d6a1b11",
      "kind" -> "sliding",
      "size" -> "PT60S",
      "slide" -> "PT20S",
      "late_rule" -> "frame_closed",
      "event_time" -> "ts",
      "watermark.policy" -> "limiting_lag_and_lull",
      "watermark.lag" -> "PT2S",
      "watermark.max_lull" -> "PT30S"
    )
    val columns: JMap[String, JList[Column]] = Map(
      "substream" -> Seq(col("device")),
      "keys" -> Seq(col("device")),
      "aggregates" -> Seq(count(lit(1)).as("n")),
      "when" -> Nil,
      "gap" -> Nil,
      "scope" -> Nil
    ).map { case (name, list) => name -> list.asJava }.asJava
    PythonApi.request(events, options.asJava, columns)
  }

  private def inScala(events: DataFrame): DataFrame = Eventtide
    .window(events)
    .eventTime(
      "ts",
      WatermarkPolicy.limitingLagAndLull("2s", "30s"),
      WatermarkOptions().substream("device")
    )
    .keyBy("device")
    .sliding("1m", "20s")
    .lateRule("frame_closed")
    .agg(count(lit(1)).as("n"))
    .results

  private val script = ScriptSource.create(StructType.fromDDL("ts timestamp, device string"))

  private def events: DataFrame = PythonApi.readScript(spark, script)

  test("the plans are equal, except for the identities of their nodes") {
    val plans = Seq(inPython(events), inScala(events)).map(_.queryExecution.analyzed)
    val windows = plans.map(WindowAggregate.allIn(_).head)
    assert(windows.map(_.structure).distinct.length == 1)
    assert(windows.map(_.settings).distinct.length == 1)
    val texts = plans.map(_.toString.replaceAll("#\\d+L?|[0-9a-f-]{36}|@[0-9a-f]+", ""))
    assert(texts.head == texts.last)
  }

  test("a checkpoint that Python began continues in Scala, and the other way round") {
    val folder = Files.createTempDirectory("checkpoint").toString
    def run(results: DataFrame, seconds: Int*): Seq[Row] = {
      val query = PythonApi.scriptedQuery(results, "append", folder, startMs = 0)
      query.start(availableNow = false)
      try {
        val rows = seconds.map(second => Tuple2(second.toLong, "a"))
        val batch = spark.createDataFrame(rows)
        script.add(batch.selectExpr("timestamp_seconds(_1) AS ts", "_2 AS device"))
        query.awaitIdle()
        query
          .newResults()
          .selectExpr("unix_timestamp(window.end)", "n")
          .collect()
          .toSeq
          .sortBy(_.getLong(0))
      } finally query.stop()
    }
    assert(run(inPython(events), 1, 7, 25) == Seq(Row(20L, 2L)))
    assert(run(inScala(events), 30, 44) == Seq(Row(40L, 4L)))
    assert(run(inPython(events), 90) == Seq(Row(60L, 5L), Row(80L, 3L)))
  }
}
