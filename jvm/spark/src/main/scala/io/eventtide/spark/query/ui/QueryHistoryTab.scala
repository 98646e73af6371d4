package io.eventtide.spark.query.ui

import org.apache.spark.sql.eventtide.{HistoryTab, TabContent, TabState}

/** The tab Eventtide of the history server, which needs Eventtide's jar on its class path. */
final class QueryHistoryTab extends HistoryTab {

  override protected def content(states: () => Seq[TabState]): TabContent =
    TabPage.of(() => states().map(of => TabQuery.read(of.id, of.json)).sortBy(_.title))
}
