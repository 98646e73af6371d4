package io.eventtide.spark.sql

import scala.util.Try

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{Alias, Expression, Literal, RuntimeReplaceable}
import org.apache.spark.sql.catalyst.plans.logical.{OneRowRelation, Project}
import org.apache.spark.sql.classic.SparkSession

/** The values of arguments, which must be constants. */
private[sql] object Constants {

  /** Whether a value is NULL, also of a variable or of a parameter of the statement. */
  def isNull(value: Expression): Boolean = value match {
    case Literal(constant, _) => constant == null
    case other => other.foldable && Try(other.eval(InternalRow.empty)).toOption.contains(null)
  }

  /** The value of an argument as a literal.
    *
    * @throws EventtideException
    *   if it is not a constant
    */
  def of(argument: Argument, session: SparkSession): Literal = argument.value match {
    case literal: Literal => literal
    case QuotedArgument(expression) => evaluated(argument, resolved(argument, expression, session))
    case other => evaluated(argument, other)
  }

  private def evaluated(argument: Argument, value: Expression): Literal = {
    val plain = value.transform { case call: RuntimeReplaceable => call.replacement }
    if (!plain.foldable) notConstant(argument)
    Literal(plain.eval(InternalRow.empty), plain.dataType)
  }

  // A quoted value has not been resolved, such as `make_dt_interval(0, 0, 5)` in a policy.
  private def resolved(argument: Argument, value: Expression, session: SparkSession): Expression =
    value match {
      case literal: Literal => literal
      case other =>
        val alone = Project(Seq(Alias(other, "value")()), OneRowRelation())
        session.sessionState.analyzer.execute(alone) match {
          case Project(Seq(Alias(constant, _)), _) if constant.resolved => constant
          case _ => notConstant(argument)
        }
    }

  private def notConstant(argument: Argument): Nothing =
    argument.refuse("SQL_ARGUMENT_NOT_CONSTANT", "value" -> argument.text)
}
