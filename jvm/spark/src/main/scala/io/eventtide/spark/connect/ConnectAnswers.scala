package io.eventtide.spark.connect

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.AttributeReference
import org.apache.spark.sql.catalyst.plans.logical.{LocalRelation, LogicalPlan}
import org.apache.spark.sql.connect.planner.SparkConnectPlanner
import org.apache.spark.sql.eventtide.SparkInternals
import org.apache.spark.sql.types.StringType
import org.apache.spark.unsafe.types.UTF8String

import io.eventtide.spark.api.PythonApi

/** The answers to questions of a client, each as a relation with one text.
  *
  * A plugin for commands could answer with a boolean only.
  */
private[connect] object ConnectAnswers {

  /** The answer to a message; None if the message requests a watermark or a window. */
  def of(message: ConnectMessage, planner: SparkConnectPlanner): Option[LogicalPlan] = {
    val session = planner.session
    def query = message.options("query")
    def rows = SparkInternals.dataFrame(session, message.rows)
    val answer = message.options.get("request").collect {
      case "version" => s"${PythonApi.version()} ${PythonApi.sparkVersion()}"
      case "progress" => PythonApi.progressJson(session, query)
      case "blame" => PythonApi.blame(session, query)
      case "explain" => PythonApi.explainJson(rows)
    }
    answer.map { text =>
      val column = AttributeReference("answer", StringType)()
      LocalRelation(Seq(column), Seq(InternalRow(UTF8String.fromString(text))))
    }
  }
}
