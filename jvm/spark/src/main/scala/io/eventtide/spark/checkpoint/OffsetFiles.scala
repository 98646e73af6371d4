package io.eventtide.spark.checkpoint

import java.nio.charset.StandardCharsets.UTF_8

import scala.jdk.CollectionConverters._
import scala.util.Try

import com.fasterxml.jackson.databind.{JsonNode, ObjectMapper}
import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.Path

import io.eventtide.kernel.time.FrameGrid
import io.eventtide.spark.options.WindowSettings

/** Read-only access to Spark's offset log, which has a file for each started batch. */
private[spark] final class OffsetFiles(root: Path, conf: Configuration) {
  private val files = new CheckpointFiles(new Path(root, "offsets"), conf)

  /** The last started batch. */
  def lastBatch: Option[Long] = files.lastBatch

  /** The timestamp of a batch, in microseconds; None if it cannot be read. */
  def timeOf(batchId: Long): Option[Long] =
    metadata(batchId).map(_.path("batchTimestampMs").asLong * 1000)

  /** The last boundary of a grid up to which a batch has closed a window, if the window is the only
    * operator with state. None if there is no such batch yet, or if it had no watermark. Fails if
    * the batch cannot be read.
    */
  def closedBy(batchId: Long, window: WindowSettings)(grid: FrameGrid): Option[Long] =
    Option
      .when(batchId >= 0)(read(batchId).path("batchWatermarkMs").asLong)
      .filter(_ > 0)
      .map(ms => window.onTime.copy(grid = grid).closed(ms * 1000))

  /** The watermark by which a batch closes windows, in microseconds; None if it had none, or if the
    * batch cannot be read.
    */
  def watermarkOf(batchId: Long): Option[Long] =
    metadata(batchId).map(_.path("batchWatermarkMs").asLong * 1000).filter(_ > 0)

  /** The Spark settings that a batch has fixed; None if they cannot be read. */
  def settings(batchId: Long): Option[Map[String, String]] = metadata(batchId).map {
    _.path("conf").properties.asScala.map(entry => entry.getKey -> entry.getValue.asText).toMap
  }

  /** The metadata of a batch, which follows the line with the version as a line of JSON. None if it
    * cannot be read.
    */
  def metadata(batchId: Long): Option[JsonNode] = Try(read(batchId)).toOption

  /** The offset of the first source of a batch; None for a batch without a file. */
  def firstOffset(batchId: Long): Option[String] =
    Option.when(files.exists(batchId.toString)) {
      val line = lines(batchId).drop(2).next()
      line.stripPrefix("0:") // the second format of the log names each source
    }

  private def read(batchId: Long): JsonNode =
    OffsetFiles.mapper.readTree(lines(batchId).drop(1).next())

  private def lines(batchId: Long): Iterator[String] =
    files.read(batchId.toString)(in => new String(in.readAllBytes(), UTF_8)).linesIterator
}

private[spark] object OffsetFiles {

  /** The text of the log for a source without an offset. */
  val NoOffset = "-"

  private val mapper = new ObjectMapper()
}
