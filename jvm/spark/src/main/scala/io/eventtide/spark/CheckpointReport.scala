package io.eventtide.spark

import java.time.{Duration, Instant}

import scala.jdk.CollectionConverters._

import com.fasterxml.jackson.databind.{JsonNode, ObjectMapper}

import io.eventtide.spark.QueryProgress.some

/** The contents of a checkpoint, as of the last committed batch; `Eventtide.checkpoint` returns it.
  *
  * @param root
  *   the checkpoint location
  * @param committed
  *   the last committed batch; -1 for none
  * @param closedBy
  *   the watermark by which the last committed batch closed windows; None if it had none
  * @param begun
  *   the last started batch; -1 for none
  * @param fingerprint
  *   a hash of `plan` with twelve digits
  * @param plan
  *   the properties that the saved state depends on, one line for each input and each window
  * @param watermark
  *   as `Eventtide.progress` after the last committed batch
  * @param blame
  *   the cause of the watermark's delay
  * @param windows
  *   one report for each window of the plan
  * @param lateKept
  *   the retained late rows; None without any
  * @param lateReaders
  *   the streams that read the late rows
  * @param orphans
  *   the number of late files that do not count
  * @param orphanBytes
  *   their size
  * @param ledgerEntries
  *   the number of entries of the policies' state; None if it cannot be read
  * @param ledgerBytes
  *   their size
  * @param partitions
  *   the number of partitions of the state; None if it is not known
  * @param settings
  *   the Spark settings that the checkpoint fixes
  * @param problems
  *   the parts that cannot be read, with the reason
  * @param advice
  *   unfavourable settings, with a recommendation
  * @param continues
  *   whether the given plan can continue from this checkpoint; None without a plan
  * @param refusal
  *   the reason why it cannot continue
  * @param changes
  *   the changes if the plan continues
  */
final case class CheckpointReport(
    root: String,
    committed: Long,
    closedBy: Option[Instant],
    begun: Long,
    fingerprint: String,
    plan: Seq[String],
    watermark: Option[QueryProgress],
    blame: Option[String],
    windows: Seq[WindowReport],
    lateKept: Option[LateKept],
    lateReaders: Seq[LateReader],
    orphans: Long,
    orphanBytes: Long,
    ledgerEntries: Option[Long],
    ledgerBytes: Option[Long],
    partitions: Option[Int],
    settings: Map[String, String],
    problems: Seq[String],
    advice: Seq[String],
    continues: Option[Boolean],
    refusal: Option[String],
    changes: Seq[String]
)

/** One window of a checkpoint.
  *
  * @param structure
  *   its sizes, rules, keys and aggregates
  * @param openKeys
  *   the number of keys with open windows after the last batch
  * @param closedUpTo
  *   the end up to which its windows have closed; None before the first one, or if its rows are not
  *   counted
  * @param lateLog
  *   the folder of its late rows; None if they are only counted
  * @param late
  *   the total number of its late rows, by reason
  */
final case class WindowReport(
    structure: String,
    openKeys: Option[Long],
    closedUpTo: Option[Instant],
    lateLog: Option[String],
    late: Map[String, Long]
)

/** The range of late rows that a checkpoint retains: from a batch on, for a duration or forever. */
final case class LateKept(batchId: Long, time: Instant, keep: Option[Duration])

/** A stream that reads the late rows of a checkpoint, and the last batch that it has read. */
final case class LateReader(id: String, name: String, batchId: Long)

private[spark] object CheckpointReport {
  private val mapper = new ObjectMapper()

  def read(json: String): CheckpointReport = {
    val node = mapper.readTree(json)
    CheckpointReport(
      node.get("root").asText,
      node.get("committed").asLong,
      some(node, "closedBy").map(QueryProgress.instant),
      node.get("begun").asLong,
      node.get("fingerprint").asText,
      texts(node, "plan"),
      some(node, "watermark").map(QueryProgress.of),
      some(node, "blame").map(_.asText),
      node.get("windows").elements.asScala.map(window).toSeq,
      some(node, "lateKept").map(kept),
      node.get("lateReaders").elements.asScala.map(reader).toSeq,
      node.get("orphans").asLong,
      node.get("orphanBytes").asLong,
      some(node, "ledgerEntries").map(_.asLong),
      some(node, "ledgerBytes").map(_.asLong),
      some(node, "partitions").map(_.asInt),
      node.get("settings").properties.asScala.map(e => e.getKey -> e.getValue.asText).toMap,
      texts(node, "problems"),
      texts(node, "advice"),
      some(node, "continues").map(_.asBoolean),
      some(node, "refusal").map(_.asText),
      texts(node, "changes")
    )
  }

  private def texts(node: JsonNode, field: String): Seq[String] =
    node.get(field).elements.asScala.map(_.asText).toSeq

  private def window(node: JsonNode): WindowReport = WindowReport(
    node.get("structure").asText,
    some(node, "openKeys").map(_.asLong),
    some(node, "closedUpTo").map(QueryProgress.instant),
    some(node, "lateLog").map(_.asText),
    QueryProgress.counts(node.get("late"))
  )

  private def kept(node: JsonNode): LateKept = LateKept(
    node.get("from").asLong,
    QueryProgress.instant(node.get("clock")),
    some(node, "forMicros").map(micros => QueryProgress.duration(micros.asLong))
  )

  private def reader(node: JsonNode): LateReader =
    LateReader(node.get("id").asText, node.get("name").asText, node.get("batchId").asLong)
}
