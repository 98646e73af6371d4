package io.eventtide.spark.query.run

import java.util.UUID

import scala.jdk.CollectionConverters._
import scala.util.Try

import com.fasterxml.jackson.databind.ObjectMapper
import org.apache.spark.sql.connector.read.streaming.{Offset, ReadLimit, SupportsAdmissionControl}
import org.apache.spark.sql.eventtide.StreamExecutionAccess
import org.apache.spark.sql.types.{IntegerType, StringType}
import org.apache.spark.unsafe.types.UTF8String

import io.eventtide.kernel.watermark.Backlog
import io.eventtide.spark.spi.{SubstreamName, TickSource}

/** The backlogs of Kafka partitions. A partition has a backlog if its latest offset, as the source
  * reports it, is above the end of the last batch.
  *
  * The source reports the offsets that it found when Spark last polled it for new data. Within a
  * trigger, Spark may poll it after the clock, so callers that need current offsets must poll it.
  * Used on the query's thread only.
  */
private[query] final class PartitionBacklogs(query: StreamExecutionAccess, nodeId: UUID) {
  import PartitionBacklogs.Backlogs

  // Only projections and filters are between the source and the node, so there is one source.
  private lazy val source = query.streamsBelow(nodeId).collectFirst {
    case source: SupportsAdmissionControl if !source.isInstanceOf[TickSource] => source
  }

  private var seen = Option.empty[(String, String)]

  /** The backlogs of all existing partitions, by substream name. None if nothing has changed,
    * because Spark polls for new data every few milliseconds, or if the source reports no offset.
    */
  def changed: Option[Backlogs] = changedBy { (source, _) =>
    // The Kafka source fails here in a run in which Spark has not polled it for data yet.
    Try(source.reportLatestOffset()).toOption.flatMap(PartitionBacklogs.text(source, _))
  }

  /** As `changed`, but with current offsets. This sends a request to the source's broker, and
    * fails as Spark's request would.
    */
  def latestChanged: Option[Backlogs] = changedBy(queryLatest)

  /** As `latestChanged`, but also defined if nothing has changed. */
  def latest: Option[Backlogs] = offsets(queryLatest).map((PartitionBacklogs.between _).tupled)

  /** Forgets the last reported offsets, so that `changed` returns them again even if unchanged. */
  def forget(): Unit = seen = None

  /** All partitions of the last batch, each with a backlog: no partition is known to be read to its
    * end.
    */
  def assumed: Option[Backlogs] =
    source
      .flatMap(query.endOffset)
      .map(PartitionBacklogs.partitions(_).keySet.map(_ -> Backlog.Pending).toMap)

  private def queryLatest(source: SupportsAdmissionControl, end: String): Option[String] = {
    val latest = source.latestOffset(source.deserializeOffset(end), ReadLimit.allAvailable)
    PartitionBacklogs.text(source, latest)
  }

  private def changedBy(
      latest: (SupportsAdmissionControl, String) => Option[String]
  ): Option[Backlogs] = {
    val now = offsets(latest)
    val isNew = now.nonEmpty && now != seen
    if (isNew) seen = now
    now.filter(_ => isNew).map((PartitionBacklogs.between _).tupled)
  }

  // The end offset of the last batch, and the latest offset. In real-time mode, what Spark has as the
  // end of a batch is a guess. There, each partition with rows may have a backlog at first.
  private def offsets(
      latest: (SupportsAdmissionControl, String) => Option[String]
  ): Option[(String, String)] =
    for {
      from <- source
      end <-
        if (query.isRealTime) query.beginOffset(from).orElse(Some("{}")) else query.endOffset(from)
      found <- latest(from, end)
    } yield end -> found
}

private[query] object PartitionBacklogs {

  /** The backlog of each partition, by its substream name. */
  type Backlogs = Map[String, Backlog]

  private val json = new ObjectMapper
  private val name = SubstreamName.of(Seq(StringType, IntegerType))

  // Spark's Kafka source reports no offset if there are no partitions, for example when all topics
  // of a pattern are gone. For another source, no offset may mean that it cannot report one.
  private def text(source: SupportsAdmissionControl, latest: Offset): Option[String] =
    Option(latest)
      .map(_.json)
      .orElse(Option.when(source.getClass.getName.startsWith(SparksOwn))("{}"))

  private val SparksOwn = "org.apache.spark.sql.kafka010."

  /** The backlogs between two Kafka offsets, `{"topic":{"0":23}}`. A new partition begins at 0. */
  def between(end: String, latest: String): Backlogs = {
    val read = partitions(end)
    partitions(latest).map { case (one, offset) =>
      one -> (if (read.getOrElse(one, 0L) < offset) Backlog.Pending else Backlog.Empty)
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

/** The backlogs of all inputs whose substreams are their source's partitions, by input position. */
private[query] final class SourceBacklogs(query: StreamExecutionAccess, nodes: Map[Int, UUID]) {
  import PartitionBacklogs.Backlogs

  private val sources = nodes.map { case (position, nodeId) =>
    position -> new PartitionBacklogs(query, nodeId)
  }

  def changed: Map[Int, Backlogs] = by(_.changed)

  def latestChanged: Map[Int, Backlogs] = by(_.latestChanged)

  def latest: Map[Int, Backlogs] = by(_.latest)

  /** The backlogs to assume if a source could not report, until all sources report again. */
  def assumed: Map[Int, Backlogs] = {
    sources.values.foreach(_.forget())
    by(_.assumed)
  }

  private def by(of: PartitionBacklogs => Option[Backlogs]): Map[Int, Backlogs] =
    sources.flatMap { case (position, source) => of(source).map(position -> _) }
}
