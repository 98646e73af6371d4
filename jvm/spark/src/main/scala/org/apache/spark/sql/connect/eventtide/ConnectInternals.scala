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
}
