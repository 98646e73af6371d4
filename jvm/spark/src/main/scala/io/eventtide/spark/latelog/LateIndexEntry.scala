package io.eventtide.spark.latelog

import scala.collection.immutable.SortedMap
import scala.jdk.CollectionConverters._

import com.fasterxml.jackson.databind.node.ObjectNode
import com.fasterxml.jackson.databind.{JsonNode, ObjectMapper}

import io.eventtide.kernel.window.TimeRange
import io.eventtide.spark.spi.LateTotals

/** The late rows of one window in one batch, with row counts by reason. */
private[spark] final case class WindowLateEntry(
    window: Int,
    rows: SortedMap[String, Long],
    files: Seq[LateFileInfo]
)

/** The late rows of one batch: a line of JSON in the index.
  *
  * @param after
  *   the previous batch with late rows, so that a gap can be detected
  * @param atMicros
  *   the batch's timestamp
  * @param total
  *   row counts by reason since the checkpoint began, including this batch
  */
private[spark] final case class LateIndexEntry(
    batchId: Long,
    after: Option[Long],
    atMicros: Long,
    total: SortedMap[String, Long],
    windows: Seq[WindowLateEntry]
) {

  def rows: SortedMap[String, Long] = LateIndexEntry.sum(windows.map(_.rows))

  /** The totals after the batch. */
  def totals: LateTotals = LateTotals(Some(batchId), total)

  def filesOf(window: Int): Seq[LateFileInfo] = windows.filter(_.window == window).flatMap(_.files)

  def json: String = {
    val node = LateIndexEntry.mapper.createObjectNode().put("batch", batchId)
    after.foreach(node.put("after", _))
    node.put("at", atMicros)
    LateIndexEntry.putRows(node, "total", total)
    val array = node.putArray("windows")
    windows.foreach(window => LateIndexEntry.write(window, array.addObject()))
    node.toString
  }
}

private[spark] object LateIndexEntry {
  private val mapper = new ObjectMapper()

  def sum(rows: Seq[Map[String, Long]]): SortedMap[String, Long] =
    SortedMap.from(rows.flatten.groupMapReduce(_._1)(_._2)(_ + _))

  /** Merges several entries, in order, into one entry that has their row counts and no files. */
  def together(entries: Seq[LateIndexEntry]): LateIndexEntry = {
    val windows = entries.flatMap(_.windows).groupMap(_.window)(_.rows)
    entries.last.copy(
      after = None,
      windows =
        windows.toSeq.sortBy(_._1).map { case (i, rows) => WindowLateEntry(i, sum(rows), Nil) }
    )
  }

  /** Builds a window's part of an entry from the reports of its tasks. */
  def windowEntry(window: Int, reports: Seq[LateReport]): WindowLateEntry = WindowLateEntry(
    window,
    sum(
      reports.map(_.rowsByName)
    ),
    reports.flatMap(_.file).sortBy(_.name)
  )

  private def write(window: WindowLateEntry, node: ObjectNode): Unit = {
    node.put("window", window.window)
    putRows(node, "rows", window.rows)
    val files = node.putArray("files")
    window.files.foreach(write(_, files.addObject()))
  }

  private def write(file: LateFileInfo, node: ObjectNode): Unit = {
    node.put("name", file.name).put("bytes", file.bytes)
    file.times.foreach { times =>
      node.putArray("times").add(times.lowest).add(times.highest)
    }
  }

  private def putRows(node: ObjectNode, field: String, rows: SortedMap[String, Long]): Unit = {
    val of = node.putObject(field)
    rows.foreachEntry((reason, n) => of.put(reason, n))
  }

  /** Thrown for a line that Eventtide has not written. */
  final class Foreign(reason: String) extends Exception(reason)

  /** Parses a line. A malformed line throws an exception of any type. A well-formed line with
    * invalid content throws `Foreign`.
    */
  def read(line: String): LateIndexEntry = {
    val node = mapper.readTree(line)
    val batchId = countOf(node.required("batch"))
    LateIndexEntry(
      batchId,
      Option(node.get("after")).map(countOf(_, below = batchId)),
      wholeOf(node.required("at")),
      rowsOf(node.required("total")),
      elements(node.required("windows")).map(windowOf(batchId, _))
    )
  }

  private def windowOf(batchId: Long, node: JsonNode): WindowLateEntry = WindowLateEntry(
    countOf(node.required("window"), below = Int.MaxValue).toInt,
    rowsOf(node.required("rows")),
    elements(node.required("files")).map(fileOf(batchId, _))
  )

  private def fileOf(batchId: Long, node: JsonNode): LateFileInfo = {
    val name = node.required("name").asText
    if (!LateFileInfo.batches(name).exists(_.contains(batchId))) {
      throw new Foreign(s"it names the file '$name', which is not a late file of batch $batchId")
    }
    LateFileInfo(name, countOf(node.required("bytes")), Option(node.get("times")).map(timesOf))
  }

  private def timesOf(node: JsonNode): TimeRange = elements(node).map(wholeOf) match {
    case Seq(lowest, highest) if lowest <= highest => TimeRange(lowest, highest)
    case _ => throw new Foreign(s"$node is not a time range")
  }

  private def rowsOf(node: JsonNode): SortedMap[String, Long] =
    SortedMap.from(node.properties.asScala.map(field => field.getKey -> countOf(field.getValue)))

  private def elements(node: JsonNode): Seq[JsonNode] =
    if (node.isArray) node.elements.asScala.toSeq else throw new Foreign(s"$node is not a list")

  private def countOf(node: JsonNode): Long = countOf(node, below = Long.MaxValue)

  private def countOf(node: JsonNode, below: Long): Long = {
    val n = wholeOf(node)
    if (n < 0 || n >= below) throw new Foreign(s"it has the invalid number $n")
    n
  }

  private def wholeOf(node: JsonNode): Long =
    if (node.isIntegralNumber && node.canConvertToLong) node.asLong
    else throw new Foreign(s"$node is not a whole number")
}
