package io.eventtide.spark.sql

import java.util.Locale

import org.apache.spark.sql.catalyst.analysis.{UnresolvedAttribute, UnresolvedFunction}
import org.apache.spark.sql.catalyst.expressions.{Expression, NamedArgumentExpression}

/** A name with values, inside an argument: `with_fixed_lag('5s')`, `every(interval => '10s')`. A name
  * alone is a call without values.
  */
private[sql] final case class Call(name: String, values: Seq[Expression], argument: Argument) {

  /** The values by the names of parameters, of which the first values need no name. */
  def named(parameters: Seq[String]): Map[String, Argument] = {
    val all = values.zipWithIndex.map {
      case (NamedArgumentExpression(key, value), _) => key.toLowerCase(Locale.ROOT) -> value
      case (value, i) => parameters.lift(i).getOrElse(tooMany(parameters)) -> value
    }
    all.find { case (name, _) => !parameters.contains(name) }.foreach { case (name, _) =>
      unknown(name, parameters)
    }
    if (all.map(_._1).distinct.length < all.length) tooMany(parameters)
    all.map { case (name, value) => name -> parameter(name, value) }.toMap
  }

  /** A value of this call, named for errors. */
  def parameter(name: String, value: Expression): Argument = {
    val place = if (value.origin.sqlText == argument.place.sqlText) value.origin else argument.place
    Argument(name, QuotedArgument(value), place)
  }

  def unknown(name: String, parameters: Seq[String]): Nothing = argument
    .copy(name = name)
    .refuse("UNKNOWN_OPTION", "allowed" -> Call.listed(parameters))

  private def tooMany(parameters: Seq[String]): Nothing = argument.refuse(
    "SQL_CALL",
    "value" -> argument.text,
    "call" -> s"$name(${parameters.mkString(", ")})"
  )
}

private[sql] object Call {

  def of(argument: Argument, value: Expression): Call = value match {
    case UnresolvedAttribute(Seq(name)) => Call(lower(name), Nil, argument)
    case call: UnresolvedFunction if call.nameParts.length == 1 =>
      Call(lower(call.nameParts.head), call.arguments, argument)
    case _ =>
      argument.refuse(
        "SQL_CALL",
        "value" -> argument.text,
        "call" -> "a name with its parameters, such as with_fixed_lag('5s')"
      )
  }

  private def lower(name: String): String = name.toLowerCase(Locale.ROOT)

  def listed(names: Seq[String]): String = if (names.isEmpty) "none" else names.mkString(", ")
}
