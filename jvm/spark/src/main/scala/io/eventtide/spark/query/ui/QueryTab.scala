package io.eventtide.spark.query.ui

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
        run => queries.find(_.id == run).map(state)
      )
    } catch { case NonFatal(failure) => logWarning("Spark's UI has no tab Eventtide.", failure) }

  private def queries: Seq[TabQuery] =
    QueryWatermarks.all.sortBy(_.title).map(TabQuery.of)

  private def state(query: TabQuery) = TabState(query.id, query.write)
}
