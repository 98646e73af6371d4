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
      case (NamedArgumentExpression(key, value), _) =>
        parameter(key.toLowerCase(Locale.ROOT), value)
      case (value, i) => parameter(parameters.lift(i).getOrElse(tooMany(parameters)), value)
    }
    all.find(of => !parameters.contains(of.name)).foreach { other =>
      other.refuse("UNKNOWN_OPTION", "allowed" -> Call.listed(parameters))
    }
    if (all.distinctBy(_.name).length < all.length) tooMany(parameters)
    all.map(of => of.name -> of).toMap
  }

  /** A value of this call, named for errors. A value in a text in quotes has the place of the text.
    */
  def parameter(name: String, value: Expression): Argument = {
    val isInText = value.origin.sqlText == argument.place.sqlText
    val place = if (isInText) Argument.withName(name, value.origin) else argument.place
    Argument(name, QuotedArgument(value), place)
  }

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
