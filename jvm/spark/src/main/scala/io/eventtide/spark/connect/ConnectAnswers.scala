package io.eventtide.spark.connect

import java.util.{Map => JMap}

import scala.jdk.CollectionConverters._

import com.fasterxml.jackson.databind.ObjectMapper

import io.eventtide.spark.api.{ErrorReport, PythonApi}
import io.eventtide.spark.planning.SqlText

/** The answers to the questions of a client, each a text; null if there is no answer. */
private[connect] object ConnectAnswers {
  type Answers = Map[String, ConnectQuestion => String]

  /** The questions about errors. */
  val OfErrors: Set[String] = Set("error", "failure")

  private val OfPlans: Answers = Map(
    "version" -> (_ => json(Seq(PythonApi.version(), PythonApi.sparkVersion()))),
    "error" -> (of => ErrorReport.of(of.option("condition"), of.option("parameters")).orNull),
    "sql_of" -> (of => SqlText.of(of.expression, of.message.options.get("written")).orNull),
    "explain" -> (of => PythonApi.explainJson(of.rows)),
    "late_nodes" -> (of => json(PythonApi.lateNodes(of.rows).asScala.toSeq))
  )

  private val OfQueries: Answers = Map(
    "failure" -> (of => of.query.exception.flatMap(ErrorReport.of).orNull),
    "progress" -> (of => PythonApi.progressJson(of.session, of.queryId)),
    "blame" -> (of => PythonApi.blame(of.session, of.queryId)),
    "checkpoint_of" -> (of => PythonApi.checkpointOf(of.query)),
    "await_late_log" -> (of => done(PythonApi.awaitLateLog(of.query)))
  )

  private val All =
    OfPlans ++ OfQueries ++ HandlerAnswers.All ++ CheckpointAnswers.All ++ ConnectTestKit.Answers

  def names: Seq[String] = All.keys.toSeq.sorted

  /** The answer to a question; None for another request. */
  def to(question: ConnectQuestion): Option[() => String] =
    All.get(question.message.name).map(answer => () => answer(question))

  /** The answer to a question that only does something. */
  def done(work: => Any): String = {
    work: Unit
    null
  }

  def json(values: Seq[Any]): String = mapper.writeValueAsString(values.asJava)

  def json(values: JMap[String, String]): String = mapper.writeValueAsString(values)

  private lazy val mapper = new ObjectMapper()
}
