package io.eventtide.spark.planning

import org.apache.spark.sql.catalyst.plans.logical.{AnalysisHelper, LogicalPlan}
import org.apache.spark.sql.catalyst.streaming.WriteToStreamStatement
import org.apache.spark.sql.classic.DataFrame
import org.apache.spark.sql.eventtide.{SparkInternals, SparkShims}
import org.apache.spark.sql.execution.streaming.AvailableNowTrigger
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.streaming.DataStreamWriter

import io.eventtide.spark.EventtideException
import io.eventtide.spark.source.HistorySource

/** Makes the first batches of a query read a history in place of its stream.
  *
  * The rows of the history take the place of the rows below the watermark. All nodes above stay, so
  * the checkpoint is that of the query itself, which continues with its stream.
  *
  * In a classic session the thread that starts the query has the history, because Spark analyzes
  * the plan on that thread. A client of Spark Connect requests it.
  */
private[spark] object Backfill {
  private val requested = ThreadLocal.withInitial[Option[DataFrame]](() => None)

  /** Starts a writer that reads a history and ends. Until `start` has returned, this thread keeps the
    * history, and the writer has the trigger of such a query.
    */
  def during[A](writer: DataStreamWriter[_], history: DataFrame)(start: => A): A = {
    SessionValidator.installed(history.sparkSession)
    requested.set(Some(history))
    try SparkInternals.triggered(writer, AvailableNowTrigger)(start)
    finally requested.remove()
  }

  /** The plan of a query that reads a history, if one is requested on this thread. */
  def requestedOn(start: WriteToStreamStatement): WriteToStreamStatement =
    requested.get.fold(start)(of => start.copy(inputQuery = requestedFor(start.inputQuery, of)))

  /** The plan of a query that reads a history. */
  def requestedFor(query: LogicalPlan, history: DataFrame): LogicalPlan = {
    if (history.isStreaming) throw EventtideException("BACKFILL_STREAM")
    checkSources(query)
    checkTime(query)
    AnalysisHelper.allowInvokingTransformsInAnalyzer {
      query.transform {
        case clock: AttachClock if !clock.backfills =>
          clock.copy(data = inPlaceOf(clock.data, history), backfills = true)
      }
    }
  }

  private def inPlaceOf(stream: LogicalPlan, history: DataFrame): LogicalPlan = {
    val session = history.sparkSession
    val source = new HistorySource(session, history.queryExecution.analyzed)
    HistoryColumns.of(stream, SparkInternals.streamOf(session, source))
  }

  /** Rejects a query that reads a history but could not continue with its stream. */
  def check(start: WriteToStreamStatement): Unit = {
    if (start.trigger != AvailableNowTrigger)
      throw EventtideException("BACKFILL_TRIGGER", "trigger" -> start.trigger)
    val hasName = start.userSpecifiedName.nonEmpty && SQLConf.get.checkpointLocation.nonEmpty
    if (start.userSpecifiedCheckpointLocation.isEmpty && !hasName)
      throw EventtideException("BACKFILL_CHECKPOINT_MISSING")
  }

  // The stream continues with the offset after the last one of the history: there must be one.
  private def checkSources(query: LogicalPlan): Unit = {
    val clocks = query.collect { case clock: AttachClock => clock }
    if (clocks.isEmpty) throw EventtideException("BACKFILL_WITHOUT_WATERMARK")
    val sources = query.collectLeaves().filter(_.isStreaming).diff(clocks.map(_.clock))
    if (clocks.length > 1 || sources.length != 1)
      throw EventtideException("BACKFILL_SOURCES", "count" -> sources.length)
    val names = clocks.flatMap(clock => SparkShims.sourceNames(clock.data))
    if (names.nonEmpty)
      throw EventtideException("BACKFILL_SOURCE_NAMED", "names" -> names.mkString(", "))
  }

  private def checkTime(query: LogicalPlan): Unit = {
    val times = query.exists(_.expressions.exists(_.exists(_.isInstanceOf[IngestionTime])))
    if (times) throw EventtideException("BACKFILL_INGESTION_TIME")
  }
}
