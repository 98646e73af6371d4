package io.eventtide.spark.sql

import scala.util.control.NonFatal

import org.apache.spark.sql.Column
import org.apache.spark.sql.catalyst.analysis.{UnresolvedAlias, UnresolvedFunction}
import org.apache.spark.sql.catalyst.expressions.{
  CreateNamedStruct,
  Expression,
  LambdaFunction,
  Literal
}
import org.apache.spark.sql.catalyst.plans.logical.{OneRowRelation, Project}
import org.apache.spark.sql.classic.SparkSession
import org.apache.spark.sql.eventtide.SparkInternals
import org.apache.spark.sql.types.StringType
import org.apache.spark.unsafe.types.UTF8String

/** Reads arguments that are one expression or several, such as keys and aggregates.
  *
  * {{{
  *   key_by => device                       key_by => 'device'
  *   key_by => (device, upper(region))      key_by => 'device, upper(region)'
  *   key_by => array('device', 'region')
  * }}}
  *
  * A text has what stands between SELECT and FROM.
  */
private[sql] final class ExpressionList(session: SparkSession) {

  def columns(argument: Argument): Seq[Column] = expressions(argument).map(SparkInternals.column)

  def column(argument: Argument): Column = SparkInternals.column(one(argument))

  def one(argument: Argument): Expression = expressions(argument) match {
    case Seq(only) => only
    case several =>
      argument.refuse(
        "INVALID_CHOICE",
        "value" -> several.map(_.sql).mkString(", "),
        "allowed" -> "one expression"
      )
  }

  def expressions(argument: Argument): Seq[Expression] = {
    val found = argument.value match {
      case QuotedArgument(expression) => parts(argument, expression)
      case other => parts(argument, other)
    }
    found.find(hasLooseLambda).foreach { of =>
      argument.refuse(
        "INVALID_CHOICE",
        "value" -> of.sql,
        "allowed" -> "an expression that has lambdas only as arguments of functions"
      )
    }
    found
  }

  // Spark itself has only an internal error for these.
  private def hasLooseLambda(expression: Expression): Boolean = expression match {
    case _: LambdaFunction => true
    case call: UnresolvedFunction =>
      call.children.exists {
        case LambdaFunction(body, _, _) => hasLooseLambda(body)
        case other => hasLooseLambda(other)
      }
    case other => other.children.exists(hasLooseLambda)
  }

  private def parts(argument: Argument, value: Expression): Seq[Expression] = value match {
    case Literal(text: UTF8String, _: StringType) => parsed(argument, text.toString)
    case UnresolvedAlias(child, _) => parts(argument, child)
    case row: CreateNamedStruct => row.valExprs.flatMap(parts(argument, _))
    case call: UnresolvedFunction if isList(call) => call.arguments.flatMap(parts(argument, _))
    case other => Seq(other)
  }

  private def isList(call: UnresolvedFunction): Boolean =
    call.nameParts.length == 1 && Set("array", "struct")(call.nameParts.head.toLowerCase)

  private def parsed(argument: Argument, text: String): Seq[Expression] = {
    def refuse(reason: String): Nothing =
      argument.refuse("SQL_TEXT_UNREADABLE", "value" -> text, "reason" -> reason)
    val plan =
      try session.sessionState.sqlParser.parsePlan(s"SELECT $text")
      catch { case NonFatal(error) => refuse(error.getMessage.linesIterator.find(_.nonEmpty).get) }
    plan match {
      case Project(list, OneRowRelation()) =>
        list.flatMap {
          case UnresolvedAlias(Literal(_, _: StringType), _) => refuse("it has a text in quotes")
          case other => parts(argument, other)
        }
      case _ => refuse("it is not a list of expressions")
    }
  }
}
