package io.eventtide.spark.planning

import org.apache.spark.sql.Column
import org.apache.spark.sql.catalyst.analysis.UnresolvedRelation
import org.apache.spark.sql.catalyst.plans.logical.{EventTimeWatermark, LogicalPlan}
import org.apache.spark.sql.classic.DataFrame
import org.apache.spark.sql.eventtide.SparkInternals
import org.apache.spark.sql.functions.{col, count, lit, max}
import org.scalatest.funsuite.AnyFunSuite

import io.eventtide.spark.{EventtideException, LocalSession}

class EventtideRequestSuite extends AnyFunSuite with LocalSession {
  private val id = "7b0d62ea-8ea8-4ddf-b19f-5ee0c3b3f2a1"

  private val lag = Map(
    "request" -> "with_watermark",
    "id" -> id,
    "event_time" -> "timestamp",
    "watermark.policy" -> "with_fixed_lag",
    "watermark.lag" -> "PT5S"
  )

  private val minutes = Map(
    "request" -> "window",
    "id" -> id,
    "event_time" -> "timestamp",
    "watermark.policy" -> "with_fixed_lag",
    "watermark.lag" -> "PT5S",
    "kind" -> "tumbling",
    "size" -> "PT60S"
  )

  private val counts = Map("aggregates" -> Seq(count("*").as("n"), max(col("value")).as("top")))

  private def rates: DataFrame = spark.readStream.format("rate").load()

  private def plan(
      options: Map[String, String],
      columns: Map[String, Seq[Column]],
      rows: LogicalPlan = rates.queryExecution.analyzed
  ): LogicalPlan =
    SparkInternals
      .dataFrame(spark, EventtideRequest(options, columns, rows))
      .queryExecution
      .analyzed

  private def refusal(
      options: Map[String, String],
      columns: Map[String, Seq[Column]] = Map.empty
  ): String = intercept[EventtideException](plan(options, columns)).getMessage

  private def ids(plan: LogicalPlan): Seq[Any] = plan.collect {
    case watermark: EventTimeWatermark => watermark.nodeId
    case window: WindowAggregate => window.nodeId
  }

  test("a request waits for its input, which is a view that is looked up later") {
    rates.createOrReplaceTempView("rates")
    val request = EventtideRequest(lag, Map.empty, UnresolvedRelation(Seq("rates")))
    assert(!request.resolved)
    val watermarks = SparkInternals.dataFrame(spark, request).queryExecution.analyzed.collect {
      case node: PolicyWatermark => node.eventTime.name
    }
    assert(watermarks == Seq("timestamp"))
  }

  test("the identity of its nodes is that of the request, however often it is analyzed") {
    val (first, again) = (plan(minutes, counts), plan(minutes, counts))
    assert(ids(first).distinct.length == 2)
    assert(ids(first) == ids(again))
    assert(ids(plan(minutes - "id", counts)) != ids(first))
  }

  test("windows over a Spark watermark take it over under one identity") {
    val stock = rates.withWatermark("timestamp", "5 seconds").queryExecution.analyzed
    val over = minutes.filterNot { case (option, _) => option.startsWith("watermark.") }
    assert(ids(plan(over, counts, stock)) == ids(plan(over, counts, stock)))
  }

  test("columns are found by the plan id of the request's result") {
    val request = EventtideRequest(lag, Map.empty, rates.queryExecution.analyzed)
    SparkInternals.setPlanId(request, 17)
    val batch = spark.range(3).selectExpr("timestamp_seconds(id) AS timestamp")
    val unchanged = request.copy(child = batch.queryExecution.analyzed)
    SparkInternals.setPlanId(unchanged, 18)
    for ((asked, planId) <- Seq(request -> 17L, unchanged -> 18L)) {
      val analyzed = SparkInternals.dataFrame(spark, asked).queryExecution.analyzed
      assert(SparkInternals.planId(analyzed).contains(planId))
    }
  }

  test("what a request lacks, or has too much of, is refused by name") {
    assert(refusal(lag - "request").contains("'request' is missing"))
    assert(refusal(lag + ("request" -> "drop_table")).contains("'request' is 'drop_table'"))
    assert(refusal(lag + ("id" -> "7")).contains("'id' is '7'; allowed are a UUID"))
    assert(refusal(lag - "event_time").contains("'event_time' is missing"))
    assert(refusal(lag + ("path" -> "/etc")).contains("no option 'path'"))
    assert(refusal(lag + ("watermark.path" -> "/etc")).contains("no option 'path'"))
    assert(refusal(minutes + ("path" -> "/etc"), counts).contains("no option 'path'"))
    assert(refusal(lag, Map("rows" -> Seq(lit(1)))).contains("'columns' is 'rows'"))
    val twice = counts + ("when" -> Seq(lit(true), lit(false)))
    assert(refusal(minutes, twice).contains("'when' is 'true, false'; allowed are one column"))
  }

  test("a request is shown with its options and columns") {
    val shown = EventtideRequest(minutes, counts, rates.queryExecution.analyzed).toString
    assert(shown.contains("kind=tumbling") && shown.contains("aggregates=[count(*) AS n"))
  }
}
