package io.eventtide.spark.connect

import scala.jdk.CollectionConverters._

import com.fasterxml.jackson.databind.ObjectMapper
import org.apache.spark.sql.catalyst.expressions.Expression
import org.apache.spark.sql.classic.{DataFrame, SparkSession}
import org.apache.spark.sql.connect.eventtide.ConnectInternals
import org.apache.spark.sql.connect.planner.SparkConnectPlanner
import org.apache.spark.sql.eventtide.SparkInternals
import org.apache.spark.sql.streaming.StreamingQuery

import io.eventtide.spark.EventtideException
import io.eventtide.spark.api.{ErrorReport, PythonApi}
import io.eventtide.spark.options.OptionReader
import io.eventtide.spark.planning.SqlText

/** The answers to the questions of a client, each a text; null if there is no answer. */
private[connect] final class ConnectAnswers(
    private val message: ConnectMessage,
    private val planner: SparkConnectPlanner
) {

  /** The answer, if the message is a question. */
  def answer: Option[() => String] =
    ConnectAnswers.All.get(message.name).map(ask => () => ask(this))

  private def session: SparkSession = planner.session

  private def rows: DataFrame = SparkInternals.dataFrame(session, message.rows)

  private def query: StreamingQuery = query(message.option("query"), message.option("run"))

  private def query(id: String, run: String): StreamingQuery =
    ConnectInternals.query(planner, id, run).getOrElse {
      throw EventtideException("QUERY_OF_OTHER_SESSION", "query" -> id)
    }

  private def expression: Expression =
    message.columns.get("column").flatMap(_.headOption).map(SparkInternals.expression).getOrElse {
      OptionReader.missing("column", "a column")
    }

  private def checkpoint: String = message.option("checkpoint")

  private def lateTo = message.list("late_to").asJava

  private def testing: ConnectMessage = {
    ConnectTestKit.check(session)
    message
  }

  private def changingFiles[A](change: => A): A = {
    val isAllowed = session.sparkContext.getConf.getBoolean(ConnectAnswers.AllowsChanges, false)
    if (isAllowed) change
    else
      throw EventtideException(
        "CONNECT_CHANGES_OFF",
        "request" -> message.name,
        "setting" -> ConnectAnswers.AllowsChanges
      )
  }
}

private[connect] object ConnectAnswers {

  /** The setting of a server whose clients may change or delete files of checkpoints. */
  val AllowsChanges = "spark.eventtide.connect.allowFileChanges"

  /** The questions about errors. */
  val OfErrors: Set[String] = Set("error", "failure")

  def names: Seq[String] = All.keys.toSeq.sorted

  private val All: Map[String, ConnectAnswers => String] = Map(
    "version" -> (_ => json(Seq(PythonApi.version(), PythonApi.sparkVersion()))),
    "error" -> { of =>
      ErrorReport.of(of.message.option("condition"), of.message.option("parameters")).orNull
    },
    "failure" -> (of => of.query.exception.flatMap(ErrorReport.of).orNull),
    "sql_of" -> (of => SqlText.of(of.expression, of.message.options.get("written")).orNull),
    "explain" -> (of => PythonApi.explainJson(of.rows)),
    "progress" -> (of => PythonApi.progressJson(of.session, of.query.id.toString)),
    "blame" -> (of => PythonApi.blame(of.session, of.query.id.toString)),
    "late_nodes" -> (of => json(PythonApi.lateNodes(of.rows).asScala.toSeq)),
    "await_late_log" -> (of => done(PythonApi.awaitLateLog(of.query))),
    "script" -> (of => ConnectTestKit.script(of.testing)),
    "script_add" -> (of => done(ConnectTestKit.add(of.testing, of.rows))),
    "script_close" -> (of => done(ConnectTestKit.close(of.testing))),
    "scripted_query" -> (of => ConnectTestKit.scripted(of.testing, of.rows)),
    "scripted" -> (of => ConnectTestKit.call(of.testing, of.planner)),
    "follow_late" -> { of =>
      val window = of.message.count("window", least = 0)
      val options = PythonApi.followLate(of.query, window)
      Option(options).map(mapper.writeValueAsString).orNull
    },
    "has_named_sources" -> (of => PythonApi.hasNamedSources(of.query).toString),
    "tie_late" -> { of =>
      val companion = of.query(of.message.option("companion"), of.message.option("companion_run"))
      done(PythonApi.tieLate(of.query, companion))
    },
    "release_late" -> (of => done(PythonApi.releaseLate(of.query))),
    "await_calls" -> { of =>
      PythonApi.awaitCalls(of.query, of.message.option("timeout_ms").toLong).toString
    },
    "catch_up_calls" -> (of => done(PythonApi.catchUpCalls(of.query))),
    "checkpoint_of" -> (of => PythonApi.checkpointOf(of.query)),
    "checkpoint" -> { of =>
      val plan = of.message.input.map(_ => of.rows)
      PythonApi.checkpointJson(of.session, of.checkpoint, plan.orNull)
    },
    "clean_late" -> { of =>
      val isDry = of.message.flag("dry_run")
      def cleaned = PythonApi.cleanLate(of.session, of.checkpoint, isDry, of.lateTo)
      json((if (isDry) cleaned else of.changingFiles(cleaned)).asScala.toSeq)
    },
    "compact_late" -> { of =>
      val done =
        of.changingFiles(PythonApi.compactLate(of.session, of.checkpoint, of.lateTo))
      json(done.asScala.toSeq)
    },
    "forget_late_reader" -> { of =>
      val reader = of.message.option("reader")
      done(of.changingFiles(PythonApi.forgetLateReader(of.session, of.checkpoint, reader)))
    },
    "repartition" -> { of =>
      val partitions = of.message.count("partitions")
      of.changingFiles(PythonApi.repartition(of.session, of.checkpoint, partitions)).toString
    }
  )

  /** The answer of a question that only does something. */
  def done(work: => Any): String = {
    work: Unit
    null
  }

  private val mapper = new ObjectMapper()

  private def json(values: Seq[Any]): String = mapper.writeValueAsString(values.asJava)
}
