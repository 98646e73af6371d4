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

/** What a companion needs of the query whose late rows it reads while that runs. */
private[spark] object LateHandlerQuery {
  private val temporary = ConcurrentHashMap.newKeySet[UUID]() // by run

  /** The position of the window that made `results` among those of what is written, if it is one. */
  def windowOf(results: LogicalPlan, written: LogicalPlan): Option[Int] = {
    val own = nodes(results).headOption // what is below may have windows too
    own.map(nodes(written).indexOf).filter(_ >= 0)
  }

  private def nodes(plan: LogicalPlan): Seq[UUID] =
    plan.collect { case node: HasLateOutput => node.lateNode }.distinct

  /** Starts a query whose checkpoint stays until `release`, also one that Spark would remove. */
  def start(writer: DataStreamWriter[_]): StreamingQuery = {
    val (query, isTemporary) = RetainTempCheckpoint.during(writer.start())
    if (isTemporary) temporary.add(query.runId)
    query
  }

  /** Waits until a query has a log; false if it has ended before. */
  def await(query: StreamingQuery): Boolean = Try(
    StreamExecutionAccess.awaitSources(query)
  ).isSuccess

  /** The late rows of a window, one batch of the query at a time; None if the query has ended before
    * it had a log.
    */
  def follow(session: SparkSession, query: StreamingQuery, window: Int): Option[DataFrame] =
    Option.when(await(query)) {
      val reader = session.readStream
        .format(LateSource.Name)
        .option("checkpoint", StreamExecutionAccess.checkpointOf(query))
        .option("window", window.toLong)
        .option(LateReadOptions.Most, 1L)
        .option(LateReadOptions.Query, query.id.toString)
      // Where one source has a name, Spark wants all to have one.
      val isNamed = SparkShims.sourceNames(StreamExecutionAccess.planOf(query)).nonEmpty
      (if (isNamed) SparkShims.named(reader, "late_rows") else reader).load()
    }

  /** Removes a temporary checkpoint as Spark would have: unless something failed. */
  def release(session: SparkSession, query: StreamingQuery, failed: Boolean): Unit =
    if (temporary.remove(query.runId)) {
      val force = session.sessionState.conf.getConf(SQLConf.FORCE_DELETE_TEMP_CHECKPOINT_LOCATION)
      if (force || !failed && query.exception.isEmpty) {
        val root = new Path(StreamExecutionAccess.checkpointOf(query))
        root.getFileSystem(session.sessionState.newHadoopConf()).delete(root, true): Unit
      }
    }
}
