package io.eventtide.spark.connect

import java.util.{Map => JMap}

import scala.jdk.CollectionConverters._

import com.fasterxml.jackson.databind.ObjectMapper

import io.eventtide.spark.api.{ErrorReport, PythonApi}
import io.eventtide.spark.planning.SqlText

/** The answers to the questions of a client, each a text; null if there is no answer. */
private[connect] object ConnectAnswers {
  type Answers = Map[String, Answer]

  /** The questions about errors. */
  val OfErrors: Set[String] = Set("error", "failure")

  private val OfPlans: Answers = Map(
    "version" -> Answer.of()(_ => json(Seq(PythonApi.version(), PythonApi.sparkVersion()))),
    "error" -> Answer.of("condition", "parameters") { of =>
      ErrorReport.of(of.option("condition"), of.message.texts("parameters")).orNull
    },
    "sql_of" -> Answer.of("written") { of =>
      SqlText.of(of.expression, of.message.options.get("written")).orNull
    },
    "explain" -> Answer.of()(of => PythonApi.explainJson(of.rows)),
    "late_nodes" -> Answer.of()(of => json(PythonApi.lateNodes(of.rows).asScala.toSeq))
  )

  private val OfQueries: Answers = Map(
    "failure" -> Answer.ofQuery()(of => of.query.exception.flatMap(ErrorReport.of).orNull),
    "progress" -> Answer.ofQuery()(of => PythonApi.progressJson(of.session, of.queryId)),
    "blame" -> Answer.ofQuery()(of => PythonApi.blame(of.session, of.queryId)),
    "checkpoint_of" -> Answer.ofQuery()(of => PythonApi.checkpointOf(of.query)),
    "await_late_log" -> Answer.ofQuery()(of => done(PythonApi.awaitLateLog(of.query)))
  )

  private val All =
    OfPlans ++ OfQueries ++ HandlerAnswers.All ++ CheckpointAnswers.All ++ ConnectTestKit.All

  def names: Seq[String] = All.keys.toSeq.sorted

  /** The answer to a question; None for another request. */
  def to(question: ConnectQuestion): Option[() => String] =
    All.get(question.message.name).map(answer => () => answer.to(question))

  /** The answer to a question that only does something. */
  def done(work: => Any): String = {
    work: Unit
    null
  }

  def json(values: Seq[Any]): String = mapper.writeValueAsString(values.asJava)

  def json(values: JMap[String, String]): String = mapper.writeValueAsString(values)

  private lazy val mapper = new ObjectMapper()
}
