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

/** Which of Kafka's partitions have rows that no batch has read: those whose latest offset, as the
  * source reports it, is above the end of the last batch.
  *
  * The source reports what it found when Spark last asked it for new data. In a trigger it may be asked
  * after the clock, so that who goes by it has to ask it himself. Only on a query's own thread.
  */
private[query] final class PartitionBacklogs(query: StreamExecutionAccess, nodeId: UUID) {
  import PartitionBacklogs.Backlogs

  // Above it are only columns and filters, so that there is one.
  private lazy val source = query.streamsBelow(nodeId).collectFirst {
    case source: SupportsAdmissionControl if !source.isInstanceOf[TickSource] => source
  }

  private var seen = Option.empty[(String, String)]

  /** Of all partitions that there are, by the names of substreams, if anything is new and the source
    * says it: Spark asks for new data every few milliseconds.
    */
  def news: Option[Backlogs] = newsBy { (source, _) =>
    // Kafka's fails in a run in which Spark has not asked it for data yet.
    Try(source.reportLatestOffset()).toOption.flatMap(PartitionBacklogs.text(source, _))
  }

  /** As `news`, of now: the source is asked for it, which is a request to its broker, and fails as
    * Spark's own request would.
    */
  def latestNews: Option[Backlogs] = newsBy(ask)

  /** As `latestNews`, also if nothing is new. */
  def latest: Option[Backlogs] = offsets(ask).map((PartitionBacklogs.between _).tupled)

  /** What was said is not counted on: it is news again when the source says the same. */
  def forget(): Unit = seen = None

  /** All partitions of what was read last: nobody knows that any is read to its end. */
  def assumed: Option[Backlogs] =
    source
      .flatMap(query.endOffset)
      .map(PartitionBacklogs.partitions(_).keySet.map(_ -> Backlog.Waiting).toMap)

  private def ask(source: SupportsAdmissionControl, end: String): Option[String] = {
    val latest = source.latestOffset(source.deserializeOffset(end), ReadLimit.allAvailable)
    PartitionBacklogs.text(source, latest)
  }

  private def newsBy(
      latest: (SupportsAdmissionControl, String) => Option[String]
  ): Option[Backlogs] = {
    val now = offsets(latest)
    val isNew = now.nonEmpty && now != seen
    if (isNew) seen = now
    now.filter(_ => isNew).map((PartitionBacklogs.between _).tupled)
  }

  // The end of what was read, and the latest.
  private def offsets(
      latest: (SupportsAdmissionControl, String) => Option[String]
  ): Option[(String, String)] =
    for {
      from <- source
      end <- query.endOffset(from)
      found <- latest(from, end)
    } yield end -> found
}

private[query] object PartitionBacklogs {

  /** What each partition has left, by the name of its substream. */
  type Backlogs = Map[String, Backlog]

  private val json = new ObjectMapper
  private val name = SubstreamName.of(Seq(StringType, IntegerType))

  // No offset is how Spark's own source says that there are no partitions, as when all topics of a
  // pattern are gone. Another of that name may mean that it has nothing to say.
  private def text(source: SupportsAdmissionControl, latest: Offset): Option[String] =
    Option(latest)
      .map(_.json)
      .orElse(Option.when(source.getClass.getName.startsWith(SparksOwn))("{}"))

  private val SparksOwn = "org.apache.spark.sql.kafka010."

  /** What is between two offsets of Kafka's, `{"topic":{"0":23}}`. A partition that is new begins at 0. */
  def between(end: String, latest: String): Backlogs = {
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

/** Those of all inputs whose substreams are partitions of their source, by position. */
private[query] final class SourceBacklogs(query: StreamExecutionAccess, nodes: Map[Int, UUID]) {
  import PartitionBacklogs.Backlogs

  private val sources = nodes.map { case (position, nodeId) =>
    position -> new PartitionBacklogs(query, nodeId)
  }

  def news: Map[Int, Backlogs] = by(_.news)

  def latestNews: Map[Int, Backlogs] = by(_.latestNews)

  def latest: Map[Int, Backlogs] = by(_.latest)

  /** What can be assumed where a source could not answer, until they all speak again. */
  def assumed: Map[Int, Backlogs] = {
    sources.values.foreach(_.forget())
    by(_.assumed)
  }

  private def by(of: PartitionBacklogs => Option[Backlogs]): Map[Int, Backlogs] =
    sources.flatMap { case (position, source) => of(source).map(position -> _) }
}
