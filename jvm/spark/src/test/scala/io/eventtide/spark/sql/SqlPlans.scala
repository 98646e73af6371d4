package io.eventtide.spark.sql

import org.apache.spark.sql.catalyst.analysis.EliminateSubqueryAliases
import org.apache.spark.sql.catalyst.plans.logical.Project
import org.apache.spark.sql.{Column, DataFrame, classic}
import org.scalatest.Suite

import io.eventtide.spark.planning.{EventtideRequest, RequestBuilder}
import io.eventtide.spark.{EventtideException, LocalSession}

/** Streams for SQL, and plans without the ids that differ between two plans of one query. */
trait SqlPlans extends LocalSession { this: Suite =>

  override protected def beforeAll(): Unit = {
    super.beforeAll()
    val rates = spark.readStream.format("rate").load()
    rates
      .selectExpr("timestamp AS ts", "CAST(value % 3 AS STRING) AS device", "value AS v")
      .createOrReplaceTempView("events")
    spark
      .range(9)
      .selectExpr(
        "timestamp_seconds(id * 20) AS ts",
        "CAST(id % 3 AS STRING) AS device",
        "id AS v"
      )
      .createOrReplaceTempView("history")
  }

  protected def plan(sql: String, parameters: Map[String, Any] = Map.empty): String =
    text(spark.sql(sql, parameters))

  /** The plan of a request as Python's builder makes it. */
  protected def requested(
      request: String,
      options: Map[String, String],
      watermark: Map[String, String],
      columns: Map[String, Seq[Column]],
      rows: String = "events"
  ): String = {
    val all = RequestBuilder.options(request, options, watermark)
    text(
      EventtideRequest.over(spark.table(rows).asInstanceOf[classic.DataFrame], all, columns)
    )
  }

  protected def refusal(sql: String): EventtideException =
    intercept[EventtideException](spark.sql(sql).queryExecution.analyzed)

  /** The part of the text that an error points at. */
  protected def fragment(sql: String): String = refusal(sql).getQueryContext.head.fragment

  private def text(rows: DataFrame): String = {
    val analyzed = rows.asInstanceOf[classic.DataFrame].queryExecution.analyzed
    val plain = EliminateSubqueryAliases(analyzed).transformUp {
      case Project(all, child) if all.map(_.exprId) == child.output.map(_.exprId) => child
    }
    plain.treeString
      .replaceAll("#\\d+L?", "#")
      .replaceAll("[0-9a-f]{8}-[0-9a-f-]{27}", "id")
      .replaceAll("@[0-9a-f]{3,}", "@")
  }
}
