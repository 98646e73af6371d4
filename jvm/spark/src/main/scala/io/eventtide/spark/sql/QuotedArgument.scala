package io.eventtide.spark.sql

import org.apache.spark.sql.catalyst.analysis.UnresolvedTableValuedFunction
import org.apache.spark.sql.catalyst.expressions.{
  Expression,
  FunctionTableSubqueryArgumentExpression,
  LeafExpression,
  Literal,
  NamedArgumentExpression,
  Unevaluable
}
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.catalyst.trees.CurrentOrigin
import org.apache.spark.sql.catalyst.trees.TreePattern.UNRESOLVED_TABLE_VALUED_FUNCTION
import org.apache.spark.sql.types.{DataType, NullType}

/** An argument that is not a constant: a column, a policy, a trigger. It is not a child, so that
  * Spark does not look up its names.
  */
private[sql] final case class QuotedArgument(expression: Expression)
    extends LeafExpression
    with Unevaluable {
  override def dataType: DataType = NullType
  override def nullable: Boolean = false
  override def toString: String = expression.toString
}

/** The word `STREAM` before a call, as an argument, because a function sees only arguments. */
private[sql] case object StreamArgument extends LeafExpression with Unevaluable {
  override def dataType: DataType = NullType
  override def nullable: Boolean = false
}

/** Quotes the arguments of Eventtide's functions that may be more than constants.
  *
  * It is a hint rule, since these run before Spark looks up columns and functions: outside of a
  * call, a column of the rows and the name of a policy are unknown.
  */
private[spark] object QuoteArguments extends Rule[LogicalPlan] {

  override def apply(plan: LogicalPlan): LogicalPlan =
    plan.resolveOperatorsUpWithPruning(_.containsPattern(UNRESOLVED_TABLE_VALUED_FUNCTION)) {
      case call: UnresolvedTableValuedFunction =>
        TableFunctions.find(call.name).fold[LogicalPlan](call)(quoted(_, call))
    }

  private def quoted(of: TableFunction, call: UnresolvedTableValuedFunction): LogicalPlan = {
    val arguments = call.functionArgs.zipWithIndex.map {
      case (named @ NamedArgumentExpression(key, value), _) =>
        if (of.quotes(key)) named.copy(value = quote(value)) else named
      case (value, i) if of.positional.lift(i).exists(of.quotes) => quote(value)
      case (other, _) => other
    }
    val all =
      if (call.isStreaming && !arguments.contains(StreamArgument)) arguments :+ StreamArgument
      else arguments
    if (all == call.functionArgs) call else call.copy(functionArgs = all)
  }

  private def quote(value: Expression): Expression = value match {
    case _: Literal | _: QuotedArgument | _: FunctionTableSubqueryArgumentExpression => value
    case StreamArgument => value
    case other => CurrentOrigin.withOrigin(other.origin)(QuotedArgument(other))
  }
}
