package org.apache.spark.sql.connect.eventtide

import org.apache.spark.sql.connect.planner.SparkConnectPlanner
import org.apache.spark.sql.connect.service.SparkConnectService
import org.apache.spark.sql.streaming.StreamingQuery

/** Access to the package-private parts of Spark Connect. */
object ConnectInternals {

  /** A query that this session has started, running or stopped; None for other sessions' queries. */
  def query(planner: SparkConnectPlanner, id: String, runId: String): Option[StreamingQuery] =
    SparkConnectService.streamingSessionManager
      .getCachedQuery(id, runId, Set.empty, planner.session)
      .map(_.query)
      .orElse(planner.session.streams.active.find { query =>
        query.id.toString == id && query.runId.toString == runId
      })

  /** Lets the client of this session ask about a query that was not started by its command. */
  def register(planner: SparkConnectPlanner, query: StreamingQuery): Unit =
    SparkConnectService.streamingSessionManager
      .registerNewStreamingQuery(planner.sessionHolder, query, Set.empty, "")
}
