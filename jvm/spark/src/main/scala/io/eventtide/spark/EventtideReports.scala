package io.eventtide.spark

import org.apache.spark.sql.Dataset
import org.apache.spark.sql.streaming.StreamingQuery

import io.eventtide.spark.planning.{ClassicSession, PlanExplanation}
import io.eventtide.spark.query.monitor.WatermarkReport
import io.eventtide.spark.query.run.QueryWatermarks

/** The calls that describe plans and running queries. */
private[spark] trait EventtideReports {

  /** The watermarks of a running query and of their substreams, as of the last batch. None for a
    * query without an Eventtide watermark.
    */
  def progress(query: StreamingQuery): Option[QueryProgress] =
    report(query).map(found => QueryProgress.read(found.json))

  /** Explains in a sentence why a query's watermark is delayed, since when, and the remedy, as of
    * the last batch. None for a query without an Eventtide watermark.
    */
  def blame(query: StreamingQuery): Option[String] = report(query).map(_.blame)

  /** Prints the watermarks and windows of a DataFrame, and the behaviour of stock Spark. */
  // As Dataset.explain does
  def explain(rows: Dataset[_]): Unit = println(explained(rows))

  /** The text that `explain` prints. */
  def explained(rows: Dataset[_]): String =
    ExplanationText(PlanExplanation.json(ClassicSession.rows(rows)))

  private def report(query: StreamingQuery): Option[WatermarkReport] =
    QueryWatermarks.report(ClassicSession.of(query.sparkSession), query.id)
}
