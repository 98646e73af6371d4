package io.eventtide.spark.connect

import scala.jdk.CollectionConverters._

import com.fasterxml.jackson.databind.ObjectMapper
import org.apache.spark.connect.proto
import org.apache.spark.sql.Column
import org.apache.spark.sql.catalyst.plans.logical.{LogicalPlan, OneRowRelation}
import org.apache.spark.sql.connect.planner.SparkConnectPlanner
import org.apache.spark.sql.eventtide.SparkInternals
import org.sparkproject.connect.protobuf.ByteString

import io.eventtide.spark.planning.EventtideRequest

/** A request that a client of Spark Connect has sent.
  *
  * The message consists of Spark's own messages, so neither side needs generated classes:
  *
  * {{{
  *   google.protobuf.Any          type_url = eventtide.io/request.v1
  *     spark.connect.Project      input = the rows; absent for a question
  *       expressions[0]           a literal: the options, as a JSON object of texts
  *       the other expressions    an UnresolvedFunction for each list of columns, with its name
  * }}}
  */
private[connect] final case class ConnectMessage(
    options: Map[String, String],
    columns: Map[String, Seq[Column]],
    rows: LogicalPlan
) {
  def request: EventtideRequest = EventtideRequest(options, columns, rows)
}

private[connect] object ConnectMessage {
  val TypeUrl = "eventtide.io/request.v1"

  private val json = new ObjectMapper()

  def read(bytes: ByteString, planner: SparkConnectPlanner): ConnectMessage = {
    val message = proto.Project.parseFrom(bytes)
    val lists = message.getExpressionsList.asScala.toSeq.drop(1).map(_.getUnresolvedFunction)
    ConnectMessage(
      optionsOf(message.getExpressions(0).getLiteral.getString),
      lists.map { list =>
        val columns = list.getArgumentsList.asScala.toSeq.map(planner.transformExpression)
        list.getFunctionName -> columns.map(SparkInternals.column)
      }.toMap,
      if (message.hasInput) planner.transformRelation(message.getInput) else OneRowRelation()
    )
  }

  private def optionsOf(text: String): Map[String, String] =
    json.readTree(text).properties.asScala.map(field => field.getKey -> field.getValue.asText).toMap
}
