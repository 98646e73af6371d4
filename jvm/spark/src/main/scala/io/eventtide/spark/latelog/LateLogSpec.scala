package io.eventtide.spark.latelog

import java.nio.charset.StandardCharsets.UTF_8

import scala.util.control.NonFatal

import com.fasterxml.jackson.databind.ObjectMapper
import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.Path
import org.apache.spark.sql.types.{DataType, StructField, StructType}

import io.eventtide.spark.EventtideException
import io.eventtide.spark.checkpoint.CheckpointFiles

/** The late log of one window of a query.
  *
  * @param to
  *   the folder of its files; None for `late` in the checkpoint, wherever the checkpoint is moved
  * @param keepMicros
  *   the retention of the rows, as set by the last run; None for unlimited
  */
private[spark] final case class LateLogSpec(
    to: Option[String],
    schema: StructType,
    keepMicros: Option[Long] = None
) {

  def folder(root: Path): Path = to.fold(new Path(root, "late"))(new Path(_))

  /** The log after `next` continues it; `next` may add or omit columns. */
  def merge(root: Path, window: Int, next: LateLogSpec): LateLogSpec = {
    val (known, added) = next.row.partition(find(_).isDefined)
    if (to != next.to || !known.forall(field => find(field).contains(field.dataType))) {
      throw EventtideException(
        "LATE_LOG_CHANGED",
        "root" -> root,
        "window" -> window,
        "stored" -> text(root),
        "current" -> next.text(root)
      )
    }
    LateLogSpec(to, LateSchema.withAdded(StructType(row ++ added)), next.keepMicros)
  }

  private def find(field: StructField): Option[DataType] =
    row.find(_.name.equalsIgnoreCase(field.name)).map(_.dataType)

  /** The columns of the input rows, without the added columns. */
  def row: StructType = StructType(schema.dropRight(LateSchema.Added.length))

  private def text(root: Path): String = s"${row.toDDL} in ${folder(root)}"
}

/** The late logs of a query: `<checkpoint>/eventtide/late/window-<position>.<revision>`.
  *
  * A log's file exists before the query's first offset is written. A run with different columns
  * adds a revision; the last revision counts.
  */
private[spark] final class LateLogSpecs(root: Path, conf: Configuration) {
  private val files = new CheckpointFiles(new Path(root, LateIndexFiles.Folder), conf)

  /** The existing logs, by the position of the window. */
  def read(): Map[Int, LateLogSpec] =
    newest(files.names).map { case (window, revision) => window -> read(window, revision) }

  /** Creates the logs of a checkpoint without batches. An earlier run that ended before its first
    * batch may have left the same logs or other logs.
    */
  def begin(logs: Map[Int, LateLogSpec]): Unit = {
    val names = files.names
    val there = newest(names)
    names
      .collect {
        case name @ LateLogSpecs.Name(window, _) if !logs.contains(window.toInt) => name
      }
      .foreach(files.delete)
    for ((window, log) <- logs) {
      val known = there.get(window)
      if (!known.exists(read(window, _) == log)) write(window, known.fold(0)(_ + 1), log)
    }
  }

  /** Continues with the logs of an earlier run. */
  def resume(logs: Map[Int, LateLogSpec]): Unit = {
    val known = read()
    logs.foreach { case (window, log) => resume(window, known.get(window), log) }
  }

  private def resume(window: Int, known: Option[LateLogSpec], next: LateLogSpec): Unit = {
    val log = known.fold(next)(_.merge(root, window, next))
    if (!known.contains(log)) write(window, newest(files.names).get(window).fold(0)(_ + 1), log)
  }

  private def newest(names: Seq[String]): Map[Int, Int] = names
    .collect { case LateLogSpecs.Name(window, revision) => window.toInt -> revision.toInt }
    .groupMapReduce(_._1)(_._2)(math.max)

  private def read(window: Int, revision: Int): LateLogSpec = {
    val name = LateLogSpecs.name(window, revision)
    val bytes = files.read(name)(_.readAllBytes())
    try {
      val node = LateLogSpecs.mapper.readTree(bytes)
      require(node.required("version").asInt == LateLogSpecs.Version)
      val schema = DataType.fromJson(node.required("schema").asText).asInstanceOf[StructType]
      require(LateSchema.isOfLog(schema))
      val to = Option(node.get("to")).map(_.asText)
      to.foreach(new Path(_))
      LateLogSpec(to, schema, Option(node.get("keepMicros")).map(_.asLong))
    } catch {
      case NonFatal(_) =>
        new LateIndexFiles(root, conf).unreadable(name, "this version of Eventtide cannot read it")
    }
  }

  private def write(window: Int, revision: Int, log: LateLogSpec): Unit = {
    val node = LateLogSpecs.mapper.createObjectNode().put("version", LateLogSpecs.Version)
    log.to.foreach(node.put("to", _))
    log.keepMicros.foreach(node.put("keepMicros", _))
    node.put("schema", log.schema.json)
    files.write(LateLogSpecs.name(window, revision))(_.write(node.toString.getBytes(UTF_8))): Unit
  }
}

private[spark] object LateLogSpecs {
  private val Name = "window-(\\d{1,9})\\.(\\d{1,9})".r
  private val Version = 1
  private val mapper = new ObjectMapper()

  private def name(window: Int, revision: Int): String = s"window-$window.$revision"
}
