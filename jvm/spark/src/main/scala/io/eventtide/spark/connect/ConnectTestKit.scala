package io.eventtide.spark.connect

import java.util.UUID
import java.util.concurrent.ConcurrentHashMap

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.classic.{DataFrame, SparkSession}
import org.apache.spark.sql.connect.eventtide.ConnectInternals
import org.apache.spark.sql.connect.planner.SparkConnectPlanner
import org.apache.spark.sql.eventtide.TestQuery
import org.apache.spark.sql.types.{DataType, StructType}

import io.eventtide.spark.EventtideException
import io.eventtide.spark.api.PythonApi
import io.eventtide.spark.connect.ConnectAnswers.{Answers, done}
import io.eventtide.spark.testkit.{ScriptQuery, ScriptSource}

/** The test kit for clients: scripts and queries with a scripted clock, which live on the server.
  *
  * A server has to allow it, because scripts stay in its memory until their client closes them.
  */
private[connect] object ConnectTestKit {

  private val queries = new ConcurrentHashMap[String, Owned]

  private final case class Owned(session: SparkSession, query: TestQuery)

  val All: Answers = Map(
    "script" -> allowed("schema")(of => script(of.message)),
    "script_add" -> allowed("script", "batches", "partitions") { of =>
      done(add(of.message, of.rows))
    },
    "script_close" -> allowed("script")(of => done(source(of.message).close())),
    "scripted_query" -> allowed("output_mode", "checkpoint", "start_ms", "real_time") { of =>
      scripted(of.message, of.rows)
    },
    "scripted" -> allowed("scripted", "call", "value")(of => call(of.message, of.planner))
  )

  private def allowed(options: String*)(text: ConnectQuestion => String): Answer =
    Answer.of(options: _*) { question =>
      ServerPermissions.checkTestKit(question.session)
      text(question)
    }

  /** Creates a script, and returns its id. */
  private def script(message: ConnectMessage): String =
    ScriptSource.create(message.parsed("schema", "a schema as JSON")(schemaOf)).id

  private def schemaOf(text: String): StructType = DataType.fromJson(text) match {
    case schema: StructType => schema
    case other => throw new IllegalArgumentException(other.sql)
  }

  /** Adds batches to a script. The first column of the rows is the number of their batch. */
  private def add(message: ConnectMessage, rows: DataFrame): Unit = {
    val added = rows.queryExecution.toRdd.map(_.copy()).collect().toSeq
    val types = rows.schema.map(_.dataType)
    val byBatch = added.groupMap(_.getInt(0)) { row =>
      InternalRow.fromSeq(row.toSeq(types).drop(1))
    }
    val batches = (0 until message.count("batches")).map(byBatch.getOrElse(_, Nil))
    source(message).addAll(batches, message.count("partitions"))
  }

  private def source(message: ConnectMessage): ScriptSource = {
    val id = message.option("script")
    Option(ScriptSource.find(id)).getOrElse(throw unknown(id))
  }

  /** Creates a scripted query, and returns its id. */
  private def scripted(message: ConnectMessage, result: DataFrame): String = {
    val start = message.long("start_ms")
    val mode = message.option("output_mode")
    val realTime = message.flag("real_time")
    val query = ScriptQuery.of(result, mode, message.checkpoint, start, realTime)
    val id = UUID.randomUUID().toString
    queries.put(id, Owned(result.sparkSession, query))
    id
  }

  /** The result rows of a scripted query since the last call. */
  def results(message: ConnectMessage, session: SparkSession): DataFrame =
    queryOf(message, session).newResults()

  /** Calls a method of a scripted query. Returns its result as text. */
  private def call(message: ConnectMessage, planner: SparkConnectPlanner): String = {
    val query = queryOf(message, planner.session)
    def value = message.long("value")
    message.option("call") match {
      case "start" => done(query.start(message.flag("value")))
      case "drain" => done(PythonApi.drainScripted(query))
      case "stop" => done(query.stop())
      case "await_idle" => done(query.awaitIdle())
      case "now" => query.nowMs.toString
      case "set_clock" => done(query.setClock(value))
      case "jump_clock" => done(query.jumpClock(value))
      case "watermark" => query.watermarkMs.toString
      case "last_batch" => query.lastBatchId.toString
      case "dropped" => query.newlyDropped().toString
      case "run" =>
        ConnectInternals.register(planner, query.query)
        s"${query.query.id} ${query.query.runId}"
      case "close" => done(queries.remove(message.option("scripted")))
      case other => throw unknown(other)
    }
  }

  private def queryOf(message: ConnectMessage, session: SparkSession): TestQuery = {
    val id = message.option("scripted")
    Option(queries.get(id)).filter(_.session eq session).getOrElse(throw unknown(id))
  }.query

  private def unknown(id: String) =
    EventtideException("CONNECT_MESSAGE_INVALID", "problem" -> s"the test kit has no '$id'")
}
