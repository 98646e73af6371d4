package io.eventtide.spark.connect

import scala.jdk.CollectionConverters._
import scala.util.Try

import com.fasterxml.jackson.databind.ObjectMapper
import org.apache.hadoop.fs.Path
import org.apache.spark.connect.proto
import org.apache.spark.sql.Column
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.connect.planner.SparkConnectPlanner
import org.apache.spark.sql.eventtide.SparkInternals
import org.sparkproject.connect.protobuf.{ByteString, InvalidProtocolBufferException}

import io.eventtide.spark.EventtideException
import io.eventtide.spark.options.OptionReader

/** A message of a client of Spark Connect.
  *
  * It consists of Spark's own messages, so neither side needs generated classes:
  *
  * {{{
  *   google.protobuf.Any          type_url = eventtide.io/request.v1
  *     spark.connect.Project      input = the rows, if the request has rows
  *       expressions[0]           a literal: the options, as a JSON object of texts
  *       the other expressions    an UnresolvedFunction for each list of columns, with its name
  * }}}
  */
private[connect] final case class ConnectMessage(
    options: Map[String, String],
    columns: Map[String, Seq[Column]],
    input: Option[LogicalPlan]
) {
  import ConnectMessage._

  /** The name of the request. */
  def name: String = options.getOrElse("request", "")

  def option(name: String): String = reader.required(name, "a text")

  def flag(name: String): Boolean =
    reader.choice(name, Seq("true" -> true, "false" -> false)).getOrElse(false)

  def count(name: String, least: Int = 1): Int =
    reader.count(name, least).getOrElse(OptionReader.missing(name, "a count"))

  def long(name: String): Long = parsed(name, "a whole number")(_.toLong)

  /** An option that is a JSON array of texts. */
  def list(name: String): Seq[String] =
    parsed(name, "a JSON array of texts")(json.readValue(_, classOf[Array[String]]).toSeq)

  /** An option that is a JSON object of texts. */
  def texts(name: String): Map[String, String] = parsed(name, "a JSON object")(textsOf)

  /** An option that `parse` reads; the message is invalid if that fails. */
  def parsed[A](name: String, allowed: String)(parse: String => A): A = {
    val text = option(name)
    Try(parse(text)).getOrElse {
      throw invalid(s"option '$name' is '$text'; allowed is $allowed")
    }
  }

  /** Refuses all options but these. */
  def refuseOthers(allowed: Seq[String]): Unit = {
    val all = reader
    (Always ++ allowed).foreach(all.get)
    all.refuseUnread()
  }

  private def reader = new OptionReader(options)

  def checkpoint: String = parsed("checkpoint", "a path")(new Path(_)).toString

  def rows: LogicalPlan = input.getOrElse(OptionReader.missing("input", "a DataFrame"))
}

private[connect] object ConnectMessage {
  val TypeUrl = "eventtide.io/request.v1"

  /** The options of every request. */
  private val Always = Seq("request", "id")

  private val json = new ObjectMapper()

  def read(bytes: ByteString, planner: SparkConnectPlanner): ConnectMessage = {
    val message =
      try proto.Project.parseFrom(bytes)
      catch { case failed: InvalidProtocolBufferException => throw invalid(failed.getMessage) }
    val expressions = message.getExpressionsList.asScala.toSeq
    val text = expressions.headOption.map(_.getLiteral.getString).getOrElse("")
    ConnectMessage(
      optionsOf(text),
      expressions.drop(1).map(columns(_, planner)).toMap,
      Option.when(message.hasInput)(planner.transformRelation(message.getInput))
    )
  }

  private def optionsOf(text: String): Map[String, String] =
    Try(textsOf(text)).getOrElse(throw invalid("the options are no JSON object"))

  private def textsOf(text: String): Map[String, String] = {
    val node = json.readTree(text)
    require(node.isObject)
    node.properties.asScala.map(field => field.getKey -> field.getValue.asText).toMap
  }

  private def columns(list: proto.Expression, planner: SparkConnectPlanner) = {
    val function = list.getUnresolvedFunction
    val columns = function.getArgumentsList.asScala.toSeq.map(planner.transformExpression)
    function.getFunctionName -> columns.map(SparkInternals.column)
  }

  private def invalid(problem: String) =
    EventtideException("CONNECT_MESSAGE_INVALID", "problem" -> problem)
}
