package io.eventtide.spark.sql

import java.nio.charset.StandardCharsets.UTF_8
import java.util.UUID

import org.apache.spark.sql.Column
import org.apache.spark.sql.catalyst.expressions.{
  Expression,
  FunctionTableSubqueryArgumentExpression
}
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.catalyst.trees.CurrentOrigin
import org.apache.spark.sql.classic.SparkSession

import io.eventtide.spark.EventtideException
import io.eventtide.spark.options.OptionReader
import io.eventtide.spark.planning.{EventtideRequest, RequestPlaces, SessionValidator}

/** A call of a table function.
  *
  * @param isStream
  *   whether the word `STREAM` is before the call
  * @param places
  *   the places of the call and of its arguments in the text
  */
private[sql] final case class FunctionCall(
    function: TableFunction,
    arguments: Seq[Argument],
    isStream: Boolean,
    places: RequestPlaces,
    session: SparkSession
) {

  /** An argument; None if it is missing or NULL. */
  def get(name: String): Option[Argument] =
    arguments.find(_.name == name).filterNot(argument => Constants.isNull(argument.value))

  def required(name: String, allowed: String): Argument =
    get(name).getOrElse(OptionReader.missing(name, allowed))

  /** The rows that the call is about. */
  def table: FunctionTableSubqueryArgumentExpression =
    arguments.find(_.name == TableFunction.Data).map(_.value) match {
      case Some(table: FunctionTableSubqueryArgumentExpression) => table
      case other =>
        val value = other.fold("missing")(value => Argument("", value, value.origin).text)
        throw EventtideException(
          "SQL_TABLE_ARGUMENT",
          "option" -> TableFunction.Data,
          "function" -> function.name,
          "value" -> value
        )
    }

  /** The identity of the call: the same however often its text is analyzed after it was parsed. A
    * view that is used twice is parsed twice, so its calls have other identities each time.
    */
  def id: UUID = FunctionCall.uuid(s"${table.exprId.jvmId}/${table.exprId.id}")

  /** A request of this call. */
  def request(
      options: Map[String, String],
      columns: Map[String, Seq[Column]],
      rows: LogicalPlan,
      id: UUID
  ): EventtideRequest = {
    SessionValidator.installed(session)
    val request = EventtideRequest(options + ("id" -> id.toString), columns, rows)
    RequestPlaces.set(request, places)
    request
  }

  /** Runs work whose errors point at the arguments of this call. */
  def located[A](work: => A): A =
    try work
    catch { case error: EventtideException => throw error.at(places.of(error)) }
}

private[sql] object FunctionCall {

  def read(function: TableFunction, values: Seq[Expression]): FunctionCall = {
    val arguments = Argument.read(function, values.filterNot(_ == StreamArgument))
    FunctionCall(
      function,
      arguments,
      values.contains(StreamArgument),
      RequestPlaces(CurrentOrigin.get, arguments.map(of => of.name -> of.place).toMap),
      SparkSession.active
    )
  }

  def uuid(text: String): UUID = UUID.nameUUIDFromBytes(text.getBytes(UTF_8))
}
