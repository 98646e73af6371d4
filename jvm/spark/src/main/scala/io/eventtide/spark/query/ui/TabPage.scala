package io.eventtide.spark.query.ui

import com.fasterxml.jackson.databind.ObjectMapper
import com.fasterxml.jackson.databind.node.ObjectNode
import org.apache.spark.sql.eventtide.TabContent

import io.eventtide.spark.query.history.{PageFiles, TimelineJson}
import io.eventtide.spark.query.run.ShownQuery

/** The page of the tab: a list of queries, and the one that the reader has chosen. */
private[ui] object TabPage {

  def of(queries: () => Seq[TabQuery]): TabContent = TabContent(
    "eventtide",
    "Eventtide",
    PageFiles.read,
    Seq(PageFiles.Style),
    PageFiles.Scripts :+ PageFiles.Tab,
    wanted => json(queries(), wanted)
  )

  private def json(queries: Seq[TabQuery], wanted: Option[String]): String = {
    val node = TabQuery.mapper.createObjectNode()
    val list = node.putArray("queries")
    queries.foreach { query =>
      list.addObject().put("id", query.id).put("title", query.title).put("running", query.isRunning)
    }
    val chosen = queries.find(query => wanted.contains(query.id)).orElse(queries.headOption)
    chosen.foreach(query => node.set[ObjectNode]("query", query.data): Unit)
    node.toString
  }
}

/** A query in the tab.
  *
  * @param id
  *   its run
  * @param shown
  *   what the scripts draw, for a highest number of substreams of an input
  */
private[ui] final class TabQuery(
    val id: String,
    val title: String,
    val isRunning: Boolean,
    shown: Int => ObjectNode
) {
  def data: ObjectNode = shown(Int.MaxValue).put("id", id)

  /** As text, for the event log. */
  def write: String = shown(TabQuery.Recorded).put("id", id).toString
}

private[ui] object TabQuery {
  val mapper = new ObjectMapper()

  /** The number of substreams in the event log: as many as the table of the tab shows. */
  private val Recorded = 200

  def of(query: ShownQuery): TabQuery = new TabQuery(
    query.runId.toString,
    query.title,
    query.isRunning,
    TimelineJson.of(query.title, query.points.iterator, query.report, _)
  )

  /** A query of an application that has ended, from what `write` wrote. */
  def read(id: String, json: String): TabQuery = {
    val data = mapper.readTree(json).asInstanceOf[ObjectNode]
    new TabQuery(id, data.get("title").asText, isRunning = false, _ => data)
  }
}
