package io.eventtide.spark

import java.io.File
import java.nio.charset.StandardCharsets
import java.nio.file.attribute.FileTime
import java.nio.file.{Files, Path}

import scala.collection.mutable
import scala.jdk.CollectionConverters._

import com.fasterxml.jackson.databind.{JsonNode, ObjectMapper}
import org.apache.spark.sql.functions.{col, count, expr, lit, max, when}
import org.apache.spark.sql.streaming.{DataStreamWriter, StreamingQuery, Trigger}
import org.apache.spark.sql.{DataFrame, Row, functions}
import org.scalatest.funsuite.AnyFunSuite
import org.scalatest.tags.Slow

import io.eventtide.spark.storm.{Count, StormWindow}
import io.eventtide.spark.voltsp.Windows

/** Scala gives the rows of tests/apis/results.json, as Python, SQL and pipelines do. */
@Slow
class SameResultsSuite extends AnyFunSuite with RocksSession {
  private val lag = WatermarkPolicy.withFixedLag("5s")
  private val aggregates = Seq(count(lit(1)).as("n"), max("v").as("top"))

  private def window(events: DataFrame): WindowBuilder =
    Eventtide.window(events).eventTime("ts", lag).keyBy("device").agg(aggregates: _*)

  private def bolt(events: DataFrame) = StormWindow()
    .withWindow("10s", Count(2))
    .withTimestampField("ts")
    .withLag("5s")
    .withWatermarkInterval("1ms")
    .over(events)
    .groupBy("device")

  private val windows: Map[String, DataFrame => WindowBuilder] = Map(
    "tumbling" -> (window(_).tumbling("10s")),
    "sliding" -> { events =>
      val expected = WatermarkOptions().substream("device").expected(Seq("a", "b"))
      val timed = window(events).eventTime("ts", lag.throttleByFrame("2s"), expected)
      timed.sliding("10s", "2s").delay("1s").lateRule("frame_closed")
    },
    "cumulate" -> (window(_).cumulate("10s", "5s")),
    "session" -> (window(_).session("3s").maximumDuration("20s")),
    "row_gap" -> (window(_).session(when(col("v") > 4, "5 seconds").otherwise("2 seconds"))),
    "by_count" -> (window(_).byCount(3, 2)),
    "key_time" -> { events =>
      window(events).tumbling("10s").watermarkScope("key").keyIdleTimeout("20s", "event_time")
    },
    "panes" -> { events =>
      window(events)
        .tumbling("10s")
        .allowedLateness("10s")
        .emit(WindowTrigger.atWindowEnd, WindowTrigger.everyRows(2), WindowTrigger.when("n >= 3"))
        .lateUpdates()
    },
    "calendar" -> (window(_).tumbling("1 day").timeZone("Europe/Berlin")),
    "storm" -> (bolt(_).agg(aggregates: _*)),
    "voltsp" -> { events =>
      Windows
        .tumblingTimeWindow()
        .withWindowSpan("10s")
        .withKeyExtractor("device")
        .withTimeConfigBuilder(_.withEventTimeExtractor("ts"))
        .withAggregateDefinition(_.count("n").max("top", "v"))
        .over(events)
    }
  )

  private def watermark(events: DataFrame): DataFrame = {
    val options = WatermarkOptions().substream("device").expected(2)
    val timed = Eventtide.withWatermark(events, "ts", lag, options)
    val counts = timed.groupBy(functions.window(col("ts"), "10 seconds"), col("device"))
    counts.agg(aggregates.head, aggregates.last).selectExpr("window.start", "device", "n", "top")
  }

  private def join(events: DataFrame): DataFrame = {
    val first = Eventtide.withWatermark(events, "ts", lag).as("a")
    val second = Eventtide.withWatermark(events, "ts", lag).as("b")
    val near = "a.device = b.device AND b.ts > a.ts AND b.ts <= a.ts + INTERVAL 5 SECONDS"
    first.join(second, expr(near)).selectExpr("a.device", "a.ts", "b.ts AS next")
  }

  private def function(events: DataFrame): DataFrame =
    bolt(events)
      .execute("device string, n long, added long") { window =>
        val added = window.getNew.map(_.getAs[Long]("v")).sum
        Some(Row(window.key.getString(0), window.get.size.toLong, added))
      }
      .results

  private val queries: Map[String, DataFrame => DataFrame] =
    windows.map { case (name, window) => name -> window.andThen(_.results) } ++
      Map("watermark" -> watermark _, "join" -> join _, "function" -> function _)

  // what Scala sends of the others is compared with what Python sends: WindowBorderSuite
  private val quick = Set("tumbling", "panes", "storm", "join", "function")

  private def file(name: String): JsonNode =
    new ObjectMapper().readTree(new File(sys.props("eventtide.root"), s"tests/apis/$name"))

  private lazy val events: DataFrame = {
    val folder = Files.createTempDirectory("rows")
    file("rows.json").elements.asScala.zipWithIndex.foreach { case (batch, number) =>
      val lines = batch.elements.asScala.map { row =>
        s"""{"ts": ${row.get(0)}, "device": ${row.get(1)}, "v": ${row.get(2)}}"""
      }
      val path = folder.resolve(s"$number.json")
      Files.write(path, lines.mkString("\n").getBytes(StandardCharsets.UTF_8))
      Files.setLastModifiedTime(path, FileTime.fromMillis(number * 1000L)) // their order
    }
    val reader = spark.readStream.schema("ts timestamp, device string, v long")
    reader.option("maxFilesPerTrigger", 1).json(folder.toString)
  }

  private def writer(results: DataFrame, folder: Path): DataStreamWriter[Row] = results.writeStream
    .format("parquet")
    .option("path", s"$folder/out")
    .option("checkpointLocation", s"$folder/checkpoint")
    .trigger(Trigger.AvailableNow())

  private def texts(rows: DataFrame): Seq[String] =
    rows.selectExpr("to_json(struct(*))").collect().map(_.getString(0)).toSeq.sorted

  private def expected(name: String, part: String): Option[Seq[String]] =
    Option(file("results.json").get(name).get(part)).map(_.elements.asScala.map(_.asText).toSeq)

  test("every query is in the list") {
    assert(file("results.json").fieldNames.asScala.toSet == queries.keySet)
  }

  queries.foreach { case (name, query) =>
    test(s"$name has the rows that it has in every API", Thorough.unless(quick(name)): _*) {
      val folder = Files.createTempDirectory(name)
      writer(query(events), folder).start().awaitTermination()
      assert(texts(spark.read.parquet(s"$folder/out")) == expected(name, "results").get)
      for (late <- expected(name, "late"))
        assert(texts(Eventtide.lateRows(spark, s"$folder/checkpoint")) == late)
    }
  }

  test("a handler gets the late rows, each once") {
    val handled = mutable.Buffer.empty[String]
    val folder = Files.createTempDirectory("handled")
    val window = windows("tumbling")(events).onLate { (rows, _) => handled ++= texts(rows) }
    val query: StreamingQuery = window.start(writer(window.results, folder))
    query.awaitTermination()
    assert(handled.sorted.toSeq == expected("tumbling", "late").get)
  }
}
