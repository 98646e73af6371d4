package io.eventtide.spark.query.history

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.Path

import io.eventtide.spark.query.monitor.BatchPoint

/** The last batches of a checkpoint as a page of HTML that needs no network.
  *
  * @param rows
  *   the rows that the page draws, as the times of their arrivals and their event times: those that
  *   arrived between two times. None if no rows are asked for
  */
private[spark] final class Timeline(
    checkpoint: Path,
    conf: Configuration,
    rows: Option[(Long, Long) => Seq[(Long, Long)]]
) {

  /** The data of the page. */
  private def json: String = {
    val history = WatermarkHistory.read(checkpoint, conf)
    val points = history.reports.map(BatchPoint.of).toSeq
    val data = TimelineJson.of(history.root.toString, points.iterator, history.last)
    rows.foreach { between =>
      val at = points.map(_.atMicros).filter(_ > 0)
      val array = data.putArray("rows")
      for (first <- at.minOption.toSeq; (arrival, time) <- between(first, at.max))
        array.addArray().add(arrival).add(time)
    }
    data.toString
  }

  def html: String = {
    val scripts = PageFiles.d3 +: PageFiles.Scripts.map(PageFiles.read)
    // Names come from the data, and must not end the element.
    val data = json.replace("<", "\\u003c")
    s"""<!doctype html>
       |<html lang="en">
       |<head>
       |<meta charset="utf-8">
       |<meta name="viewport" content="width=device-width, initial-scale=1">
       |<title>Eventtide timeline</title>
       |<style>
       |body { font: 15px system-ui, sans-serif; margin: 1.5em; color-scheme: light dark; }
       |${PageFiles.read(PageFiles.Style)}</style>
       |</head>
       |<body>
       |<main class="eventtide page"><h1>Eventtide timeline</h1><p id="title"></p></main>
       |<script type="application/json" id="data">$data</script>
       |""".stripMargin +
      scripts.map(script => s"<script>$script</script>\n").mkString +
      """<script>
        |const data = JSON.parse(document.getElementById("data").textContent);
        |document.getElementById("title").textContent = data.title;
        |eventtideQuery.show(document.querySelector("main"), data);
        |</script>
        |</body>
        |</html>
        |""".stripMargin
  }
}
