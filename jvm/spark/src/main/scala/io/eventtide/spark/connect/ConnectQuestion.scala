package io.eventtide.spark.connect

import java.util.{List => JList}

import scala.jdk.CollectionConverters._

import org.apache.spark.sql.catalyst.expressions.Expression
import org.apache.spark.sql.classic.{DataFrame, SparkSession}
import org.apache.spark.sql.connect.eventtide.ConnectInternals
import org.apache.spark.sql.connect.planner.SparkConnectPlanner
import org.apache.spark.sql.eventtide.SparkInternals
import org.apache.spark.sql.streaming.StreamingQuery

import io.eventtide.spark.EventtideException
import io.eventtide.spark.options.OptionReader

/** A question of a client, with what its message names on the server. */
private[connect] final class ConnectQuestion(
    val message: ConnectMessage,
    val planner: SparkConnectPlanner
) {

  def session: SparkSession = planner.session

  def option(name: String): String = message.option(name)

  def rows: DataFrame = SparkInternals.dataFrame(session, message.rows)

  /** The query that the question is about, which this session has started. */
  def query: StreamingQuery = query("query", "run")

  /** The query in these two options, which this session has started. */
  def query(id: String, run: String): StreamingQuery =
    ConnectInternals.query(planner, option(id), option(run)).getOrElse {
      throw EventtideException("QUERY_OF_OTHER_SESSION", "query" -> option(id))
    }

  /** The id of the query, as the reports have it. */
  def queryId: String = query.id.toString

  def expression: Expression =
    message.columns.get("column").flatMap(_.headOption).map(SparkInternals.expression).getOrElse {
      OptionReader.missing("column", "a column")
    }

  def checkpoint: String = message.checkpoint

  def lateTo: JList[String] = message.list("late_to").asJava
}
