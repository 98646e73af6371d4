package io.eventtide.spark.planning

import scala.jdk.CollectionConverters._

import com.fasterxml.jackson.databind.{JsonNode, ObjectMapper}
import org.apache.spark.sql.functions._
import org.apache.spark.sql.{Column, DataFrame}
import org.scalatest.funsuite.AnyFunSuite

import io.eventtide.spark.api.PythonApi
import io.eventtide.spark.{LocalSession, RequestedWindow}

/** What `et.explain` says of the windows in a plan. */
final class WindowExplanationSuite extends AnyFunSuite with LocalSession {
  private lazy val stream: DataFrame =
    spark.readStream.format("rate").load().toDF("ts", "amount")

  private val sliding = Map("kind" -> "sliding", "size" -> "PT3H", "slide" -> "PT15M")

  private def windowed(rows: DataFrame, options: Map[String, String], of: Column): DataFrame =
    RequestedWindow(
      rows,
      if (rows.columns.contains("ts")) "ts" else null,
      if (rows.columns.contains("ts"))
        Map("policy" -> "with_fixed_lag", "lag" -> "PT2S")
      else Map.empty,
      Nil,
      Seq(of),
      options
    )

  private def explained(frame: DataFrame): JsonNode =
    new ObjectMapper().readTree(PythonApi.explainJson(frame))

  private def combining(options: Map[String, String], of: Column): String =
    explained(windowed(stream, options, of)).at("/windows/0/combining").asText

  test("a window says its kind, bounds, rules and where late rows go") {
    val options =
      sliding ++ Map("profile" -> "storm", "delay" -> "PT5S", "late_to" -> "/data/late")
    val window = explained(windowed(stream, options, count(lit(1)).as("n"))).at("/windows/0")
    val said = window.properties.asScala.map(e => e.getKey -> e.getValue.asText).toMap
    val expected = Map(
      "position" -> "0",
      "kind" -> "sliding(size=PT3H, slide=PT15M)",
      "bounds" -> "(start, end]",
      "delay" -> "PT5S",
      "results" -> "one row a window",
      "combining" -> "deducts the oldest of 12 frames",
      "lateRule" -> "behind_watermark",
      "lateRows" -> "logged in /data/late"
    )
    assert(said == expected)
  }

  test("how frames are combined depends on the shape and the aggregates, as Spark plans them") {
    assert(combining(sliding, count_if(col("amount") > 1)) == "deducts the oldest of 12 frames")
    assert(combining(sliding, max("amount")) == "two stacks of 12 frames")
    val tumbling = Map("kind" -> "tumbling", "size" -> "PT1H")
    assert(combining(tumbling, max("amount")) == "one buffer a window")
    val soFar = Map("kind" -> "cumulate", "size" -> "P1D", "step" -> "PT1H")
    assert(combining(soFar ++ Map("size" -> "PT24H"), max("amount")) == "one buffer, which grows")
  }

  test("panes are said with what asks for them, and a delay without the lateness") {
    val options = sliding ++ Map(
      "delay" -> "PT5S",
      "triggers" -> "at_window_end,every,every_rows",
      "every" -> "PT10S",
      "every_rows" -> "7",
      "allowed_lateness" -> "PT1H",
      "late_updates" -> "true",
      "discarding" -> "true"
    )
    val window = explained(windowed(stream, options, count(lit(1)))).at("/windows/0")
    val said =
      "panes (at window end, every PT10S, every 7 rows, updated for PT1H), each of the new rows"
    assert(window.get("results").asText == said)
    assert(window.get("delay").asText == "PT5S")
  }

  test("late rows are logged in the checkpoint, counted, or fail the query") {
    def lateRows(options: (String, String)*): String =
      explained(windowed(stream, sliding ++ options, count(lit(1))))
        .at("/windows/0/lateRows")
        .asText
    assert(lateRows() == "logged in late, in the checkpoint")
    assert(lateRows("late" -> "count") == "counted")
    assert(lateRows("late" -> "fail") == "fail the query")
  }

  test("the windows of a chain are all there, the last one first") {
    val minutes =
      windowed(stream, Map("kind" -> "tumbling", "size" -> "PT60S"), max("amount").as("m"))
    val hours = windowed(minutes, Map("kind" -> "tumbling", "size" -> "PT1H"), max("m"))
    val sizes = explained(hours).get("windows").elements.asScala.map(_.get("kind").asText).toSeq
    assert(sizes == Seq("tumbling(size=PT1H)", "tumbling(size=PT60S)"))
  }

  test("a plan without windows has none, and a batch says that nothing is late") {
    assert(explained(stream).get("windows").isEmpty)
    val batch = spark.range(3).select(timestamp_seconds(col("id")).as("ts"), col("id").as("amount"))
    val notes = explained(windowed(batch, sliding, max("amount"))).get("notes")
    assert(notes.toString.contains("no row is late"))
  }
}
