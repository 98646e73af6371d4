package io.eventtide.spark.sql

import java.util.Locale
import java.util.regex.Pattern

import org.apache.spark.sql.catalyst.expressions.{Expression, NamedArgumentExpression}
import org.apache.spark.sql.catalyst.trees.Origin

import io.eventtide.spark.EventtideException

/** An argument of a call.
  *
  * @param place
  *   the argument in the SQL text, with its name if it has one there
  */
private[sql] final case class Argument(name: String, value: Expression, place: Origin) {

  /** The value as the text has it. */
  def text: String = value match {
    case QuotedArgument(expression) => expression.sql
    case other => other.sql
  }

  /** Runs work whose errors point at this argument. */
  def located[A](work: => A): A =
    try work
    catch { case error: EventtideException => throw error.at(place.getQueryContext.headOption) }

  /** An error about this argument. */
  def refuse(condition: String, parameters: (String, Any)*): Nothing =
    throw EventtideException(condition, ("option" -> name) +: parameters: _*)
      .at(place.getQueryContext.headOption)
}

private[sql] object Argument {

  /** The arguments of a call, each with its name. */
  def read(function: TableFunction, values: Seq[Expression]): Seq[Argument] = {
    val (before, named) = values.span(!_.isInstanceOf[NamedArgumentExpression])
    val first = before.zipWithIndex.map { case (value, i) =>
      val name = function.positional.lift(i).getOrElse(nameless(function, value))
      Argument(name, value, value.origin)
    }
    val all = first ++ named.map {
      case NamedArgumentExpression(key, value) => known(function, key, value)
      case value => nameless(function, value)
    }
    all.diff(all.distinctBy(_.name)).headOption.foreach { second =>
      second.refuse("SQL_ARGUMENT_TWICE", "function" -> function.name)
    }
    all
  }

  private def known(function: TableFunction, key: String, value: Expression): Argument = {
    val name = key.toLowerCase(Locale.ROOT)
    val argument = Argument(name, value, withName(key, value.origin))
    if (!function.arguments.contains(name) && !function.argumentsOfJars.contains(name))
      argument.refuse("UNKNOWN_OPTION", "allowed" -> function.arguments.mkString(", "))
    argument
  }

  private def nameless(function: TableFunction, value: Expression): Nothing = {
    val argument = Argument("", value, value.origin)
    argument.refuse(
      "SQL_ARGUMENT_WITHOUT_NAME",
      "function" -> function.name,
      "value" -> argument.text,
      "positional" -> function.positional.mkString(", ")
    )
  }

  /** The place of a value with its name, where the text has it. Spark keeps that of the value. But
    * `true` and `false` are one object each, with the origin of its first use, which may be a
    * DataFrame's: they have no place.
    */
  def withName(name: String, value: Origin): Origin = {
    val found = for {
      text <- value.sqlText
      start <- value.startIndex
      column <- value.startPosition
      pattern = Pattern.compile(s"(?i)`?${Pattern.quote(name)}`?[ \\t]*=>[ \\t]*$$")
      matcher = pattern.matcher(text.take(start))
      if matcher.find()
      length = start - matcher.start
      if length <= column
    } yield value.copy(
      startIndex = Some(start - length),
      startPosition = Some(column - length)
    )
    found.getOrElse(if (value.sqlText.isEmpty) Origin() else value)
  }
}
