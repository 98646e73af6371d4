package io.eventtide.spark.query.ui

import scala.util.control.NonFatal

import com.fasterxml.jackson.databind.ObjectMapper
import com.fasterxml.jackson.databind.node.ObjectNode
import org.apache.spark.SparkContext
import org.apache.spark.internal.Logging
import org.apache.spark.sql.eventtide.{ScriptedTab, TabContent}

import io.eventtide.spark.query.history.{PageFiles, TimelineJson}
import io.eventtide.spark.query.run.QueryWatermarks

/** The tab Eventtide of Spark's UI: the queries of the driver that have an Eventtide watermark. */
private[spark] object QueryTab extends Logging {
  private val mapper = new ObjectMapper()

  private val content = TabContent(
    "eventtide",
    "Eventtide",
    PageFiles.read,
    Seq(PageFiles.Style),
    PageFiles.Scripts :+ PageFiles.Tab,
    json
  )

  /** Adds the tab, if the application has a UI and not yet the tab. A query runs without it, too. */
  def attach(context: SparkContext): Unit =
    try ScriptedTab.attach(context, content)
    catch { case NonFatal(failure) => logWarning("Spark's UI has no tab Eventtide.", failure) }

  // All queries by name, and the data of one of them.
  private def json(wanted: Option[String]): String = {
    val queries = QueryWatermarks.all.sortBy(_.title)
    val node = mapper.createObjectNode()
    val list = node.putArray("queries")
    queries.foreach { query =>
      val of = list.addObject().put("id", query.runId.toString)
      of.put("title", query.title).put("running", query.isRunning)
    }
    val chosen =
      queries.find(query => wanted.contains(query.runId.toString)).orElse(queries.headOption)
    chosen.foreach { query =>
      val data = TimelineJson.of(query.title, query.points.iterator, query.report)
      node.set[ObjectNode]("query", data.put("id", query.runId.toString)): Unit
    }
    node.toString
  }
}
