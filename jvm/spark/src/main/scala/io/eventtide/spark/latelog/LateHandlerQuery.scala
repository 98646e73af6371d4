package io.eventtide.spark.latelog

import java.util.UUID

import scala.util.Try

import org.apache.hadoop.fs.Path
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.classic.{DataFrame, SparkSession}
import org.apache.spark.sql.eventtide.{SparkShims, StreamExecutionAccess}
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.streaming.StreamingQuery

import io.eventtide.spark.spi.HasLateOutput

/** The access of a companion query to the running query whose late rows it reads. */
private[spark] object LateHandlerQuery {

  /** The windows and watermarks of a plan that have late rows, in the order of their late logs. */
  def nodesOf(plan: LogicalPlan): Seq[UUID] =
    plan.collect { case node: HasLateOutput => node.lateNode }.distinct

  /** The position of the window that produced `results` among the windows of the `written` plan;
    * None if it is not one of them.
    */
  def windowOf(results: LogicalPlan, written: LogicalPlan): Option[Int] = {
    val own = nodesOf(results).headOption // the inputs may have windows too
    own.map(nodesOf(written).indexOf).filter(_ >= 0)
  }

  /** Waits until a query has a late log; returns false if the query ends before that. */
  def await(query: StreamingQuery): Boolean = Try(
    StreamExecutionAccess.awaitSources(query)
  ).isSuccess

  /** Announces the companion of a query. Returns the options of its stream of late rows, one batch of
    * the query at a time; None if the query ends before it has a log. The option `companion` is the
    * checkpoint location that the companion must have.
    */
  def follow(query: StreamingQuery, window: Int): Option[Map[String, String]] =
    Option.when(await(query)) {
      val place = LateCompanion.announce(query, window)
      Map(
        "checkpoint" -> StreamExecutionAccess.checkpointOf(query),
        "window" -> window.toString,
        LateReadOptions.Most -> "1",
        LateReadOptions.Query -> query.id.toString,
        LateReadOptions.Companion -> place,
        LateReadOptions.Run -> query.runId.toString
      )
    }

  /** Whether the sources of a query have names: Spark then requires a name for each source. */
  def hasNames(query: StreamingQuery): Boolean =
    SparkShims.sourceNames(StreamExecutionAccess.planOf(query)).nonEmpty

  /** The stream of `follow`, with a name for its source if Spark requires one. */
  def read(query: StreamingQuery, options: Map[String, String]): DataFrame = {
    val reader = sessionOf(query).readStream.format(LateSource.Name).options(options)
    (if (hasNames(query)) SparkShims.named(reader, "late_rows") else reader).load()
  }

  /** Forgets a companion that has not begun. Removes a temporary checkpoint under the same conditions
    * as Spark: if nothing has failed, or if the session forces the removal.
    */
  def release(query: StreamingQuery, failed: Boolean): Unit = {
    LateCompanion.cancel(query)
    val checkpoint = StreamExecutionAccess.checkpointOf(query)
    if (RetainTempCheckpoint.release(checkpoint)) {
      val state = sessionOf(query).sessionState
      val force = state.conf.getConf(SQLConf.FORCE_DELETE_TEMP_CHECKPOINT_LOCATION)
      if (force || !failed && query.exception.isEmpty) {
        val root = new Path(checkpoint)
        root.getFileSystem(state.newHadoopConf()).delete(root, true): Unit
      }
    }
  }

  private def sessionOf(query: StreamingQuery): SparkSession =
    query.sparkSession.asInstanceOf[SparkSession]
}
