package io.eventtide.spark.query

import java.util.UUID

import scala.jdk.CollectionConverters._
import scala.util.Try

import com.fasterxml.jackson.databind.ObjectMapper
import org.apache.spark.sql.connector.read.streaming.{Offset, SupportsAdmissionControl}
import org.apache.spark.sql.eventtide.RunningQuery
import org.apache.spark.sql.types.{IntegerType, StringType}
import org.apache.spark.unsafe.types.UTF8String

import io.eventtide.kernel.watermark.Backlog
import io.eventtide.spark.exec.SubstreamName

/** Which of Kafka's partitions have rows that no batch has read: those whose latest offset, as the
  * source reports it, is above the end of the last batch.
  *
  * The source reports what it found when Spark last asked it for new data: before the clock is asked,
  * but for the sources of a query's second watermark, which are known as they were a trigger before.
  * Only on a query's own thread.
  */
private[query] final class PartitionBacklogs(query: RunningQuery, nodeId: UUID) {

  private lazy val sources = query.streamsBelow(nodeId).collect {
    case source: SupportsAdmissionControl => source
  }

  private var seen = Seq.empty[(String, String)]

  /** Of all partitions that there are, by the names of substreams, if anything is new and the source
    * says it: Spark asks for new data every few milliseconds.
    */
  def news: Option[Map[String, Backlog]] = {
    val now = for {
      source <- sources
      end <- query.endOffset(source)
      latest <- reported(source)
    } yield end -> latest.json
    val isNew = now.nonEmpty && now != seen
    seen = now
    Option.when(isNew)(now.flatMap((PartitionBacklogs.between _).tupled).toMap)
  }

  // Kafka's fails in a run in which Spark has not asked it for data yet.
  private def reported(source: SupportsAdmissionControl): Option[Offset] =
    Try(source.reportLatestOffset()).toOption.flatMap(Option(_))
}

private[query] object PartitionBacklogs {
  private val json = new ObjectMapper
  private val name = SubstreamName.of(Seq(StringType, IntegerType))

  /** What is between two offsets of Kafka's, `{"topic":{"0":23}}`. A partition that is new begins at 0. */
  def between(end: String, latest: String): Map[String, Backlog] = {
    val read = partitions(end)
    partitions(latest).map { case (one, offset) =>
      one -> (if (read.getOrElse(one, 0L) < offset) Backlog.Waiting else Backlog.Empty)
    }
  }

  private def partitions(offsets: String): Map[String, Long] = {
    val read = for {
      topic <- json.readTree(offsets).properties.asScala
      partition <- topic.getValue.properties.asScala
    } yield name(Seq(UTF8String.fromString(topic.getKey), partition.getKey.toInt)) ->
      partition.getValue.asLong
    read.toMap
  }
}
