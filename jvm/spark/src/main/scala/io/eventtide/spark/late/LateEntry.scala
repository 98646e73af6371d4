package io.eventtide.spark.late

import scala.collection.immutable.SortedMap
import scala.jdk.CollectionConverters._

import com.fasterxml.jackson.databind.node.ObjectNode
import com.fasterxml.jackson.databind.{JsonNode, ObjectMapper}

/** The late rows of one window in one batch; rows by reason. */
private[spark] final case class LateOfWindow(
    window: Int,
    rows: SortedMap[String, Long],
    files: Seq[LateFileName]
)

/** The late rows of one batch: a line of JSON in the index.
  *
  * @param after
  *   the last batch before it that had late rows, so that a gap is noticed
  * @param total
  *   rows by reason since the checkpoint began, these included
  */
private[spark] final case class LateEntry(
    batchId: Long,
    after: Option[Long],
    total: SortedMap[String, Long],
    windows: Seq[LateOfWindow]
) {

  def rows: SortedMap[String, Long] = LateEntry.sum(windows.map(_.rows))

  def filesOf(window: Int): Seq[LateFileName] = windows.filter(_.window == window).flatMap(_.files)

  def json: String = {
    val node = LateEntry.mapper.createObjectNode().put("batch", batchId)
    after.foreach(node.put("after", _))
    LateEntry.putRows(node, "total", total)
    val array = node.putArray("windows")
    windows.foreach(window => LateEntry.write(window, array.addObject()))
    node.toString
  }
}

private[spark] object LateEntry {
  val NoRows: SortedMap[String, Long] = SortedMap.empty

  private val mapper = new ObjectMapper()

  def sum(rows: Seq[SortedMap[String, Long]]): SortedMap[String, Long] =
    SortedMap.from(rows.flatten.groupMapReduce(_._1)(_._2)(_ + _))

  /** The window's part of an entry, from what its tasks reported. */
  def ofWindow(window: Int, reports: Seq[LateReport]): LateOfWindow = LateOfWindow(
    window,
    sum(
      reports.map(report => report.rows.map { case (reason, n) => reason.name -> n }.to(SortedMap))
    ),
    reports.flatMap(_.file).sortBy(_.name)
  )

  private def write(window: LateOfWindow, node: ObjectNode): Unit = {
    node.put("window", window.window)
    putRows(node, "rows", window.rows)
    val files = node.putArray("files")
    window.files.foreach(file => files.addObject().put("name", file.name).put("bytes", file.bytes))
  }

  private def putRows(node: ObjectNode, field: String, rows: SortedMap[String, Long]): Unit = {
    val of = node.putObject(field)
    rows.foreachEntry((reason, n) => of.put(reason, n))
  }

  /** Reads a line; what is none fails in one of several ways. */
  def read(line: String): LateEntry = {
    val node = mapper.readTree(line)
    LateEntry(
      node.required("batch").asLong,
      Option(node.get("after")).map(_.asLong),
      rowsOf(node.required("total")),
      node.required("windows").asScala.map(windowOf).toSeq
    )
  }

  private def windowOf(node: JsonNode): LateOfWindow = LateOfWindow(
    node.required("window").asInt,
    rowsOf(node.required("rows")),
    node.required("files").asScala.map(fileOf).toSeq
  )

  private def fileOf(node: JsonNode): LateFileName =
    LateFileName(node.required("name").asText, node.required("bytes").asLong)

  private def rowsOf(node: JsonNode): SortedMap[String, Long] =
    SortedMap.from(node.properties.asScala.map(field => field.getKey -> field.getValue.asLong))
}
