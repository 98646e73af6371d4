package io.eventtide.spark.query

import java.util.UUID

import scala.jdk.CollectionConverters._

import com.fasterxml.jackson.databind.ObjectMapper
import org.apache.spark.sql.connector.read.streaming.SupportsAdmissionControl
import org.apache.spark.sql.eventtide.RunningQuery
import org.apache.spark.sql.types.{IntegerType, StringType}
import org.apache.spark.unsafe.types.UTF8String

import io.eventtide.kernel.watermark.Backlog
import io.eventtide.spark.exec.SubstreamName

/** Which of Kafka's partitions have rows that no batch has read: those whose latest offset, as the
  * source reports it, is above the end of the last batch.
  *
  * The source reports what it found when Spark last asked it for new data, which is before the clock
  * is asked. Only on a query's own thread.
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
    val reported = for {
      source <- sources
      end <- query.endOffset(source)
      latest <- Option(source.reportLatestOffset())
    } yield end -> latest.json
    val isNew = reported.nonEmpty && reported != seen
    seen = reported
    Option.when(isNew)(reported.flatMap((PartitionBacklogs.between _).tupled).toMap)
  }
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
