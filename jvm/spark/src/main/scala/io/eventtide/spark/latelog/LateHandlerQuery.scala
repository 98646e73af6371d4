package io.eventtide.spark.latelog

import java.util.UUID
import java.util.concurrent.ConcurrentHashMap

import scala.util.Try

import org.apache.hadoop.fs.Path
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.classic.{DataFrame, SparkSession}
import org.apache.spark.sql.eventtide.{SparkShims, StreamExecutionAccess}
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.streaming.{DataStreamWriter, StreamingQuery}

import io.eventtide.spark.spi.HasLateOutput

/** The access of a companion query to the running query whose late rows it reads. */
private[spark] object LateHandlerQuery {
  private val temporary = ConcurrentHashMap.newKeySet[UUID]() // by run id

  /** The windows and watermarks of a plan that have late rows, in the order of their late logs. */
  def nodesOf(plan: LogicalPlan): Seq[UUID] =
    plan.collect { case node: HasLateOutput => node.lateNode }.distinct

  /** Starts a query whose checkpoint stays until `release`, even if it is temporary. */
  def start(writer: DataStreamWriter[_]): StreamingQuery = {
    val (query, isTemporary) = RetainTempCheckpoint.during(writer.start())
    if (isTemporary) temporary.add(query.runId)
    query
  }

  /** Waits until a query has a late log; returns false if the query ends before that. */
  def await(query: StreamingQuery): Boolean = Try(
    StreamExecutionAccess.awaitSources(query)
  ).isSuccess

  /** The late rows of a window as a stream, one batch of the query at a time; None if the query
    * ends before it has a log.
    */
  def follow(session: SparkSession, query: StreamingQuery, window: Int): Option[DataFrame] =
    Option.when(await(query)) {
      val reader = session.readStream
        .format(LateSource.Name)
        .option("checkpoint", StreamExecutionAccess.checkpointOf(query))
        .option("window", window.toLong)
        .option(LateReadOptions.Most, 1L)
        .option(LateReadOptions.Query, query.id.toString)
      // If one source has a name, Spark requires names for all sources.
      val isNamed = SparkShims.sourceNames(StreamExecutionAccess.planOf(query)).nonEmpty
      (if (isNamed) SparkShims.named(reader, "late_rows") else reader).load()
    }

  /** Removes a temporary checkpoint under the same conditions as Spark: if nothing has failed, or
    * if the session forces the removal.
    */
  def release(session: SparkSession, query: StreamingQuery, failed: Boolean): Unit =
    if (temporary.remove(query.runId)) {
      val force = session.sessionState.conf.getConf(SQLConf.FORCE_DELETE_TEMP_CHECKPOINT_LOCATION)
      if (force || !failed && query.exception.isEmpty) {
        val root = new Path(StreamExecutionAccess.checkpointOf(query))
        root.getFileSystem(session.sessionState.newHadoopConf()).delete(root, true): Unit
      }
    }
}
