package io.eventtide.spark.connect

import java.util.Optional

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.AttributeReference
import org.apache.spark.sql.catalyst.plans.logical.{LocalRelation, LogicalPlan}
import org.apache.spark.sql.connect.planner.SparkConnectPlanner
import org.apache.spark.sql.connect.plugin.RelationPlugin
import org.apache.spark.sql.eventtide.SparkInternals
import org.apache.spark.sql.types.StringType
import org.apache.spark.unsafe.types.UTF8String
import org.sparkproject.connect.protobuf.{Any => ProtoAny}

import io.eventtide.spark.latelog.FollowedQuery
import io.eventtide.spark.options.OptionReader
import io.eventtide.spark.planning.{
  Backfill,
  Drain,
  EventtideRequest,
  RequestBuilder,
  SessionValidator,
  WindowState
}

/** Eventtide on a server of Spark Connect:
  * `spark.connect.extensions.relation.classes=io.eventtide.spark.connect.EventtideRelationPlugin`.
  *
  * Spark Connect asks each plugin about a relation that it does not know. A request becomes an
  * `EventtideRequest`, as in every other API. A question becomes a relation with the answer, because
  * a plugin for commands could answer with a boolean only.
  *
  * Only this package uses Spark Connect's classes. Spark loads this class by its name, so a session
  * without Spark Connect does not need them.
  */
final class EventtideRelationPlugin extends RelationPlugin {

  override def transform(
      bytes: Array[Byte],
      planner: SparkConnectPlanner
  ): Optional[LogicalPlan] = {
    val any = ProtoAny.parseFrom(bytes)
    if (any.getTypeUrl != ConnectMessage.TypeUrl) Optional.empty()
    else
      NestedMessages.limited {
        val message = ConnectMessage.read(any.getValue, planner)
        // A client asks about the error of this check, too.
        if (!ConnectAnswers.OfErrors(message.name)) SessionValidator.installed(planner.session)
        Optional.of(plan(message, planner))
      }
  }

  private def plan(message: ConnectMessage, planner: SparkConnectPlanner): LogicalPlan =
    message.name match {
      case name if RequestBuilder.Requests.contains(name) =>
        EventtideRequest(message.options, message.columns, message.rows)
      case ReadState =>
        message.refuseOthers(Seq("checkpoint"))
        val results = SparkInternals.dataFrame(planner.session, message.rows)
        WindowState.read(results, message.checkpoint).queryExecution.analyzed
      case Start =>
        message.refuseOthers(Seq("drain", "followed"))
        val rows = analyzed(message, planner)
        val query = if (message.flag("drain")) Drain.requestedFor(rows) else rows
        if (message.flag("followed")) FollowedQuery(query) else query
      case BackfillStart =>
        message.refuseOthers(Seq("history"))
        val history = planner.session.table(message.option("history"))
        Backfill.requestedFor(analyzed(message, planner), history)
      case ScriptedResults =>
        message.refuseOthers(Seq("scripted"))
        ConnectTestKit.results(message, planner.session).queryExecution.analyzed
      case name =>
        val answer = ConnectAnswers.to(new ConnectQuestion(message, planner)).getOrElse {
          val names = RequestBuilder.Requests ++ ConnectAnswers.names ++ Others
          OptionReader.unknown("request", name, names.mkString(", "))
        }
        val column = AttributeReference("answer", StringType)()
        LocalRelation(Seq(column), Seq(InternalRow(UTF8String.fromString(answer()))))
    }

  private def analyzed(message: ConnectMessage, planner: SparkConnectPlanner): LogicalPlan =
    SparkInternals.dataFrame(planner.session, message.rows).queryExecution.analyzed

  private val ReadState = "read_state"
  private val Start = "start"
  private val BackfillStart = "backfill"
  private val ScriptedResults = "scripted_results"
  private val Others = Seq(ReadState, Start, BackfillStart, ScriptedResults)
}
