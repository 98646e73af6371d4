package io.eventtide.spark.query.ui

import java.util.UUID

import scala.util.control.NonFatal

import org.apache.spark.SparkContext
import org.apache.spark.internal.Logging
import org.apache.spark.sql.eventtide.{HistoryTab, ScriptedTab, TabState}

import io.eventtide.spark.query.run.QueryWatermarks

/** The tab Eventtide of Spark's UI: the queries of the driver that have an Eventtide watermark. */
private[spark] object QueryTab extends Logging {

  /** The time between two records of the queries in the event log. */
  private val RecordEveryMs = 60000L

  /** Adds the tab, if the application has a UI and not yet the tab. A query runs without it, too. */
  def attach(context: SparkContext): Unit =
    try {
      ScriptedTab.attach(context, TabPage.of(() => queries))
      HistoryTab.record(context, RecordEveryMs)(
        () => queries.filter(_.isRunning).map(state),
        run => QueryWatermarks.isRunning(UUID.fromString(run))
      )
    } catch { case NonFatal(failure) => logWarning("Spark's UI has no tab Eventtide.", failure) }

  /** Writes the last state of a run to the event log. The run's own thread does, when it ends: a
    * listener would be too late in an application that stops at once.
    */
  def recordEnd(context: SparkContext, run: UUID): Unit =
    try HistoryTab.recordEnd(context)(QueryWatermarks.lastOf(run).map(TabQuery.of).map(state))
    catch {
      case NonFatal(failure) => logWarning("The event log lacks a query's last state.", failure)
    }

  private def queries: Seq[TabQuery] =
    QueryWatermarks.all.sortBy(_.title).map(TabQuery.of)

  private def state(query: TabQuery) = TabState(query.id, query.write)
}
