package io.eventtide.spark.sql

import scala.jdk.CollectionConverters._

import com.fasterxml.jackson.databind.{JsonNode, ObjectMapper}
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.util.ArrayBasedMapData
import org.apache.spark.sql.types._
import org.apache.spark.unsafe.types.UTF8String

/** The progress of a query as rows: one for each substream, with the values of its input and of the
  * query. An input without substreams has one row.
  */
private[sql] object ProgressReport {
  private val Interval = DayTimeIntervalType()
  private val Late = MapType(StringType, LongType, valueContainsNull = false)

  private type Value = JsonNode => Any

  private final case class Field(name: String, kind: DataType, value: Value)

  private val OfQuery = Seq(
    Field("batch_id", LongType, long("batchId")),
    Field("clock", TimestampType, long("clock")),
    Field("ideal", TimestampType, long("ideal")),
    Field("emitted", TimestampType, long("emitted")),
    Field("holding", BooleanType, flag("holding")),
    Field("on_time", LongType, long("onTime")),
    Field("late", Late, counts("late")),
    Field("bad_time", LongType, long("badTime")),
    Field("future", LongType, long("future"))
  )

  private val OfInput = Seq(
    Field("input", IntegerType, int("position")),
    Field("input_name", StringType, text("name")),
    Field("policy", StringType, text("policy")),
    Field("input_state", StringType, text("state")),
    Field("input_ideal", TimestampType, long("ideal")),
    Field("input_emitted", TimestampType, long("emitted")),
    Field("substream_count", LongType, long("substreamCount")),
    Field("max_substreams", LongType, long("maxSubstreams"))
  )

  private val OfSubstream = Seq(
    Field("substream", StringType, text("name")),
    Field("state", StringType, text("state")),
    Field("reason", StringType, text("reason")),
    Field("since", TimestampType, long("since")),
    Field("top", TimestampType, long("top")),
    Field("watermark", TimestampType, long("watermark")),
    Field("lag_behind_leader", Interval, long("behind")),
    Field("rows", LongType, long("rows")),
    Field("rows_total", LongType, long("rowsTotal"))
  )

  val Schema: StructType =
    StructType(
      (OfQuery ++ OfInput ++ OfSubstream).map(field => StructField(field.name, field.kind))
    )

  private val mapper = new ObjectMapper()

  /** The rows of a report in JSON, as `WatermarkReport` writes it. */
  def rows(json: String): Seq[InternalRow] = {
    val query = mapper.readTree(json)
    for {
      input <- orMissing(query.path("inputs"))
      top = leader(input)
      substream <- orMissing(input.path("substreams"))
    } yield {
      val behind = for (of <- longOf(substream, "top"); first <- top) yield first - of
      val own = OfSubstream.map { field =>
        if (field.name == "lag_behind_leader") behind.map(Long.box).orNull
        else field.value(substream)
      }
      InternalRow.fromSeq(OfQuery.map(_.value(query)) ++ OfInput.map(_.value(input)) ++ own)
    }
  }

  private def orMissing(array: JsonNode): Seq[JsonNode] = {
    val all = array.elements.asScala.toSeq
    if (all.isEmpty) Seq(mapper.missingNode()) else all
  }

  private def leader(input: JsonNode): Option[Long] =
    input.path("substreams").elements.asScala.flatMap(longOf(_, "top")).maxOption

  private def longOf(node: JsonNode, field: String): Option[Long] =
    Option.when(node.path(field).isNumber)(node.path(field).asLong)

  private def long(field: String): Value = longOf(_, field).map(Long.box).orNull

  private def int(field: String): Value = longOf(_, field).map(of => Int.box(of.toInt)).orNull

  private def flag(field: String): Value = _.path(field).asBoolean

  private def text(field: String): Value = node => {
    val value = node.path(field)
    if (value.isTextual) UTF8String.fromString(value.asText) else null
  }

  private def counts(field: String): Value = node => {
    val (reasons, rows) = node
      .path(field)
      .properties
      .asScala
      .toSeq
      .map(of => UTF8String.fromString(of.getKey) -> of.getValue.asLong)
      .unzip
    ArrayBasedMapData(reasons.toArray[Any], rows.toArray[Any])
  }
}
