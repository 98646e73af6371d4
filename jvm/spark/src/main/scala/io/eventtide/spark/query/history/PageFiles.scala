package io.eventtide.spark.query.history

import java.nio.charset.StandardCharsets.UTF_8

import scala.util.Using

/** The files of the pages about a query. */
private[query] object PageFiles {
  val Style = "query.css"
  val Scripts: Seq[String] = Seq("charts.js", "substreams.js", "windows.js", "query.js")

  /** A script of the tab alone. */
  val Tab = "tab.js"

  def read(file: String): String = resource(s"io/eventtide/spark/ui/$file")

  /** The library that the scripts use, which Spark's UI has. */
  def d3: String = resource("org/apache/spark/ui/static/d3.min.js")

  private def resource(name: String): String =
    Using.resource(getClass.getClassLoader.getResourceAsStream(name)) { in =>
      new String(in.readAllBytes(), UTF_8)
    }
}
