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

/** Aggregates that can take back, exactly, what was merged: counts, and sums and averages of whole
  * numbers and decimals.
  *
  * A sum is null over no values, which the sum alone cannot tell from zero once frames have left. So
  * each sum has a count of its values beside it, added if the user has none: also one that is never
  * null, since what the state looks like must not depend on what Spark finds out about a column.
  *
  * @param aggregates
  *   the user's, and after them the counts that were added
  * @param counts
  *   for each of them, where the count of its values is; -1 for one that needs none
  */
private[spark] final case class Inverse(
    aggregates: Seq[AggregateExpression],
    counts: Seq[Int]
)

private[spark] object Inverse {

  // Sums of decimals have ten digits more, so up to here ten milliards of them cannot overflow.
  private val MostDigits = DecimalType.MAX_PRECISION - 10

  /** None if one of the aggregates cannot. */
  def of(aggregates: Seq[AggregateExpression]): Option[Inverse] =
    Option.when(aggregates.forall(call => isExact(call.aggregateFunction))) {
      val needed = aggregates.flatMap(countOf).distinctBy(_.canonicalized)
      val all = aggregates ++ needed.filterNot(count => indexOf(count, aggregates) >= 0)
      Inverse(all, all.map(call => countOf(call).fold(-1)(indexOf(_, all))))
    }

  private def isExact(function: AggregateFunction): Boolean = function match {
    case _: Count => true
    case Sum(_, how) if how.evalMode == EvalMode.TRY => false // an overflow leaves nothing to go on
    case Sum(value, _) => isWhole(value) || isDecimal(value)
    case Average(value, _) => isDecimal(value) // that of whole numbers is kept as a double
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

  /** What takes the input's buffers out of the own ones. */
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
        case BooleanType => own // whether a sum of decimals is empty
        case decimal: DecimalType =>
          DecimalAddNoOverflowCheck(own, UnaryMinus(other, failOnError = false), decimal)
        case _ => Subtract(own, Coalesce(Seq(other, Literal.default(other.dataType))))
      }
    }
}
