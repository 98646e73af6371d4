package io.eventtide.spark.state

import org.apache.spark.sql.catalyst.expressions.aggregate.{
  AggregateExpression,
  AggregateFunction,
  Average,
  Count,
  Sum
}
import org.apache.spark.sql.catalyst.expressions.{
  Coalesce,
  DecimalAddNoOverflowCheck,
  EqualTo,
  EvalMode,
  Expression,
  If,
  Literal,
  Subtract,
  UnaryMinus
}
import org.apache.spark.sql.types.{
  BooleanType,
  ByteType,
  DecimalType,
  IntegerType,
  LongType,
  ShortType
}

/** Aggregates that can remove a merged buffer exactly: counts, and sums and averages of integers
  * and decimals.
  *
  * A sum over no values is null. After frames are deducted, the sum alone cannot distinguish null
  * from zero. So each sum is paired with a count of its values, which is added if the query has
  * none. A sum that is never null has a count too: the state format must not depend on the
  * nullability that Spark infers for a column.
  *
  * @param aggregates
  *   the query's aggregates, then the added counts
  * @param counts
  *   for each aggregate, the ordinal of the count of its values; -1 if it needs none
  */
private[spark] final case class Inverse(
    aggregates: Seq[AggregateExpression],
    counts: Seq[Int]
)

private[spark] object Inverse {

  // Sums of decimals have ten more digits, so up to this precision ten billion values cannot
  // overflow.
  private val MostDigits = DecimalType.MAX_PRECISION - 10

  /** The aggregates with their counts; None if one of them cannot deduct. */
  def of(aggregates: Seq[AggregateExpression]): Option[Inverse] =
    Option.when(aggregates.forall(call => isExact(call.aggregateFunction))) {
      val needed = aggregates.flatMap(countOf).distinctBy(_.canonicalized)
      val all = aggregates ++ needed.filterNot(count => indexOf(count, aggregates) >= 0)
      Inverse(all, all.map(call => countOf(call).fold(-1)(indexOf(_, all))))
    }

  private def isExact(function: AggregateFunction): Boolean = function match {
    case _: Count => true
    case Sum(_, how) if how.evalMode == EvalMode.TRY => false // an overflow cannot be undone
    case Sum(value, _) => isWhole(value) || isDecimal(value)
    case Average(value, _) => isDecimal(value) // the sum of an integer average is a double
    case _ => false
  }

  private def isWhole(value: Expression): Boolean =
    Seq(ByteType, ShortType, IntegerType, LongType).contains(value.dataType)

  private def isDecimal(value: Expression): Boolean = value.dataType match {
    case decimal: DecimalType => decimal.precision <= MostDigits
    case _ => false
  }

  private def countOf(call: AggregateExpression): Option[AggregateExpression] =
    call.aggregateFunction match {
      case Sum(value, _) =>
        Some(AggregateExpression(Count(Seq(value)), call.mode, isDistinct = false, call.filter))
      case _ => None
    }

  private def indexOf(count: AggregateExpression, among: Seq[AggregateExpression]): Int =
    among.indexWhere(_.canonicalized == count.canonicalized)

  /** Expressions that deduct the input buffers from the target buffers. */
  def expressions(functions: Seq[AggregateFunction], counts: Seq[Int]): Seq[Expression] =
    functions.zip(counts).flatMap {
      case (sum: Sum, count) if count >= 0 =>
        val isEmpty = EqualTo(differences(functions(count)).head, Literal(0L))
        sum.initialValues.zip(differences(sum)).map { case (nothing, left) =>
          If(isEmpty, nothing, left)
        }
      case (function, _) => differences(function)
    }

  private def differences(function: AggregateFunction): Seq[Expression] =
    function.aggBufferAttributes.zip(function.inputAggBufferAttributes).map { case (own, other) =>
      own.dataType match {
        case BooleanType => own // the emptiness flag of a decimal sum
        case decimal: DecimalType =>
          DecimalAddNoOverflowCheck(own, UnaryMinus(other, failOnError = false), decimal)
        case _ => Subtract(own, Coalesce(Seq(other, Literal.default(other.dataType))))
      }
    }
}
