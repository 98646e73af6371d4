package io.eventtide.spark.query.ui

import scala.jdk.CollectionConverters._

import com.fasterxml.jackson.databind.ObjectMapper
import com.fasterxml.jackson.databind.node.{ArrayNode, ObjectNode}
import org.apache.spark.sql.eventtide.TabContent

import io.eventtide.spark.query.history.{PageFiles, TimelineJson}
import io.eventtide.spark.query.monitor.InputReport
import io.eventtide.spark.query.run.ShownQuery

/** The page of the tab: a list of queries, and the one that the reader has chosen. */
private[ui] object TabPage {

  def of(queries: () => Seq[TabQuery]): TabContent = TabContent(
    "eventtide",
    "Eventtide",
    PageFiles.read,
    Seq(PageFiles.Style),
    PageFiles.Scripts :+ PageFiles.Tab,
    json(queries, _)
  )

  private def json(all: () => Seq[TabQuery], parameter: String => Option[String]): String = {
    val queries = all()
    val wanted = parameter("query")
    val node = TabQuery.mapper.createObjectNode()
    val list = node.putArray("queries")
    queries.foreach { query =>
      list.addObject().put("id", query.id).put("title", query.title).put("running", query.isRunning)
    }
    val chosen = queries.find(query => wanted.contains(query.id)).orElse(queries.headOption)
    chosen.foreach(query => node.set[ObjectNode]("query", searched(query, parameter)): Unit)
    node.toString
  }

  // A query may have more substreams than the data list: what the reader types finds the others.
  private def searched(query: TabQuery, parameter: String => Option[String]): ObjectNode = {
    val data = query.data
    for {
      (input, position) <- data.withArray[ArrayNode]("inputs").elements.asScala.zipWithIndex
      text <- parameter(s"search-$position") if text.nonEmpty
      found <- query.find(position, text)
    } replace(input.asInstanceOf[ObjectNode], found)
    data
  }

  // A batch may have ended since the data was read, and moved what is found ahead of all.
  private def replace(input: ObjectNode, found: InputReport): Unit = {
    found.writeSubstreams(input, TabQuery.Found)
    val ahead = found.highest.filter(_ > input.path("highest").asLong(Long.MinValue))
    ahead.foreach(input.put("highest", _))
  }
}

/** A query in the tab.
  *
  * @param id
  *   its run
  * @param shown
  *   what the scripts draw, for a highest number of substreams of an input
  * @param find
  *   finds the substreams of an input by a part of their names
  */
private[ui] final class TabQuery(
    val id: String,
    val title: String,
    val isRunning: Boolean,
    shown: Int => ObjectNode,
    val find: (Int, String) => Option[InputReport] = (_, _) => None
) {
  def data: ObjectNode = shown(Int.MaxValue).put("id", id)

  /** As text, for the event log. */
  def write: String = shown(TabQuery.Recorded).put("id", id).toString
}

private[ui] object TabQuery {
  val mapper = new ObjectMapper()

  /** The number of substreams in the event log: as many as the table of the tab shows. */
  private val Recorded = 200

  /** The highest number of substreams that a search finds: one more than the table shows. */
  val Found = 201

  def of(query: ShownQuery): TabQuery = new TabQuery(
    query.runId.toString,
    query.title,
    query.isRunning,
    TimelineJson.of(query.title, query.points.iterator, query.report, _),
    query.find
  )

  /** A query of an application that has ended, from what `write` wrote. */
  def read(id: String, json: String): TabQuery = {
    val data = mapper.readTree(json).asInstanceOf[ObjectNode]
    new TabQuery(id, data.get("title").asText, isRunning = false, _ => data)
  }
}
