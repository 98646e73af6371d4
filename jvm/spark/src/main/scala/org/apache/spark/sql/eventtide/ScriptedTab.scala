package org.apache.spark.sql.eventtide

import scala.xml.Node

import jakarta.servlet.http.HttpServletRequest
import org.apache.spark.SparkContext
import org.apache.spark.ui.{SparkUI, SparkUITab, UIUtils, WebUIPage}
import org.json4s.JValue
import org.json4s.jackson.JsonMethods

/** What a tab of Spark's UI has: one page, whose scripts ask for JSON and draw it.
  *
  * Spark's content policy allows no script within a page, so each script is a file.
  *
  * @param path
  *   the name of the tab in addresses
  * @param read
  *   the text of a file of the page; Spark's own handler of files does not see the jars of a session
  * @param json
  *   answers a request by its parameters
  */
final case class TabContent(
    path: String,
    title: String,
    read: String => String,
    styles: Seq[String],
    scripts: Seq[String],
    json: (String => Option[String]) => String
)

/** A tab of Spark's UI, with the UI's access rules. */
final class ScriptedTab private (ui: SparkUI, content: TabContent)
    extends SparkUITab(ui, content.path) {
  override val name: String = content.title
  attachPage(new ScriptedPage(this, content))
}

object ScriptedTab {

  /** Adds a tab to the UI of an application, once; does nothing if the application has no UI. */
  def attach(context: SparkContext, content: TabContent): Unit = context.ui.foreach(add(_, content))

  private[eventtide] def add(ui: SparkUI, content: TabContent): Unit = ui.synchronized {
    if (!ui.getTabs.exists(_.prefix == content.path)) {
      content.styles.foreach(addFile(ui, content, "text/css", _))
      content.scripts.foreach(addFile(ui, content, "text/javascript", _))
      ui.attachTab(new ScriptedTab(ui, content))
    }
  }

  private def addFile(ui: SparkUI, content: TabContent, kind: String, file: String): Unit =
    UiFile.add(ui, s"/${content.path}/$file", kind, () => content.read(file))
}

private final class ScriptedPage(tab: ScriptedTab, content: TabContent) extends WebUIPage("") {

  override def render(request: HttpServletRequest): Seq[Node] = {
    // In the history server, the pages of an application have a path of their own.
    def own(file: String): String =
      UIUtils.prependBaseUri(request, tab.basePath, s"/${content.path}/$file")
    val library = UIUtils.prependBaseUri(request, "/static/d3.min.js")
    val styles =
      content.styles.map(file => <link rel="stylesheet" href={own(file)} type="text/css"/>)
    val scripts =
      (library +: content.scripts.map(own)).map(file => <script src={file}></script>)
    val place = <main id="eventtide" class="eventtide" data-url={own("json/")}></main>
    UIUtils.headerSparkPage(request, content.title, styles ++ place ++ scripts, tab)
  }

  override def renderJson(request: HttpServletRequest): JValue =
    JsonMethods.parse(content.json(name => Option(request.getParameter(name))))
}
