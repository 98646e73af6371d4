package io.eventtide.spark

import java.time.temporal.ChronoUnit
import java.time.{Duration, Instant}

import scala.jdk.CollectionConverters._

import com.fasterxml.jackson.databind.{JsonNode, ObjectMapper}

/** The watermark of a query after its last batch; `Eventtide.progress` returns it.
  *
  * @param batchId
  *   the last completed batch; -1 before the first
  * @param clock
  *   the processing time of that batch
  * @param ideal
  *   the combined watermark of the policies; None while unknown
  * @param emitted
  *   the watermark that Spark uses; None while unknown
  * @param holding
  *   whether clock-driven watermarks are held after a restart until the sources have caught up
  * @param badTime
  *   the total number of rows rejected without a usable event time
  * @param future
  *   the total number of rows rejected by `guardFuture`
  * @param onTime
  *   the total number of rows that windows have accepted
  * @param late
  *   the total number of late rows, by reason
  * @param inputs
  *   one for each watermark in the plan
  * @param clockSteps
  *   the number of times that the machine's clock was set back by more than a second
  * @param clockCorrectedBy
  *   the sum of these corrections
  */
final case class QueryProgress(
    batchId: Long,
    clock: Instant,
    ideal: Option[Instant],
    emitted: Option[Instant],
    holding: Boolean,
    badTime: Long,
    future: Long,
    onTime: Long,
    late: Map[String, Long],
    inputs: Seq[InputProgress],
    clockSteps: Long,
    clockCorrectedBy: Duration
)

/** One watermark of a query; a query that joins streams has several.
  *
  * @param state
  *   `active`, `idle` if all substreams are idle, or `unknown`
  * @param substreams
  *   at most 10 000 substreams, in the order of their first rows
  * @param limitReachedIn
  *   the estimated time until the limit of substreams is reached, from 80 % of the limit on
  */
final case class InputProgress(
    position: Int,
    name: Option[String],
    policy: String,
    ideal: Option[Instant],
    emitted: Option[Instant],
    state: String,
    substreams: Seq[SubstreamProgress],
    substreamCount: Int,
    maxSubstreams: Int,
    limitReachedIn: Option[Duration]
)

/** One substream after the last batch.
  *
  * @param top
  *   its highest event time; None before its first row
  * @param watermark
  *   the watermark that its policy computes; None while unknown
  * @param lagBehindLeader
  *   the distance of `top` behind the highest `top` of the same input
  * @param state
  *   `active`, `idle` or `expected`
  * @param reason
  *   the reason for the state: `rows`, `backlog`, `timeout`, `caught up` or `never seen`
  * @param since
  *   the processing time at which the state began
  * @param rows
  *   the number of rows of the last batch
  */
final case class SubstreamProgress(
    name: String,
    top: Option[Instant],
    watermark: Option[Instant],
    lagBehindLeader: Option[Duration],
    state: String,
    reason: String,
    since: Instant,
    rows: Long,
    rowsTotal: Long
)

private[spark] object QueryProgress {
  private val mapper = new ObjectMapper()

  def read(json: String): QueryProgress = of(mapper.readTree(json))

  def of(node: JsonNode): QueryProgress = QueryProgress(
    node.get("batchId").asLong,
    instant(node.get("clock")),
    time(node, "ideal"),
    time(node, "emitted"),
    node.get("holding").asBoolean,
    node.get("badTime").asLong,
    node.get("future").asLong,
    node.get("onTime").asLong,
    counts(node.get("late")),
    node.get("inputs").elements.asScala.map(input).toSeq,
    node.get("clockSteps").asLong,
    duration(node.get("clockCorrectedBy").asLong)
  )

  def counts(node: JsonNode): Map[String, Long] =
    node.properties.asScala.map(entry => entry.getKey -> entry.getValue.asLong).toMap

  def instant(node: JsonNode): Instant = Instant.EPOCH.plus(node.asLong, ChronoUnit.MICROS)

  def duration(micros: Long): Duration = Duration.of(micros, ChronoUnit.MICROS)

  /** A field that may be missing or null. */
  def some(node: JsonNode, field: String): Option[JsonNode] =
    Option(node.get(field)).filterNot(_.isNull)

  private def time(node: JsonNode, field: String): Option[Instant] = some(node, field).map(instant)

  private def input(node: JsonNode): InputProgress = {
    val lines = node.get("substreams").elements.asScala.toSeq
    val leader = lines.flatMap(some(_, "top")).map(_.asLong).maxOption
    InputProgress(
      node.get("position").asInt,
      some(node, "name").map(_.asText),
      node.get("policy").asText,
      time(node, "ideal"),
      time(node, "emitted"),
      node.get("state").asText,
      lines.map(substream(_, leader)),
      node.get("substreamCount").asInt,
      node.get("maxSubstreams").asInt,
      some(node, "limitReachedIn").map(micros => duration(micros.asLong))
    )
  }

  private def substream(node: JsonNode, leader: Option[Long]): SubstreamProgress =
    SubstreamProgress(
      node.get("name").asText,
      time(node, "top"),
      time(node, "watermark"),
      some(node, "top").flatMap(top => leader.map(highest => duration(highest - top.asLong))),
      node.get("state").asText,
      node.get("reason").asText,
      instant(node.get("since")),
      node.get("rows").asLong,
      node.get("rowsTotal").asLong
    )
}
