package org.apache.spark.sql.eventtide

import java.util.UUID

import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.streaming.{
  StreamingQuery,
  StreamingQueryException,
  StreamingQueryProgress,
  StreamingQueryStatus
}

/** A query that another query follows; what Spark reports is of the first one. */
abstract class FollowedStreamingQuery(val main: StreamingQuery) extends StreamingQuery {
  override def name: String = main.name
  override def id: UUID = main.id
  override def runId: UUID = main.runId
  override def sparkSession: SparkSession = main.sparkSession
  override def status: StreamingQueryStatus = main.status
  override def recentProgress: Array[StreamingQueryProgress] = main.recentProgress
  override def lastProgress: StreamingQueryProgress = main.lastProgress
  override def explain(): Unit = main.explain()
  override def explain(extended: Boolean): Unit = main.explain(extended)
  override def exception: Option[StreamingQueryException] = main.exception
}
