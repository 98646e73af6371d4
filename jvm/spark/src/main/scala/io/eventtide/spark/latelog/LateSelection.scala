package io.eventtide.spark.latelog

import scala.util.Try

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{
  AttributeReference,
  BasePredicate,
  BinaryComparison,
  BoundReference,
  EqualNullSafe,
  EqualTo,
  Expression,
  GreaterThan,
  GreaterThanOrEqual,
  LessThan,
  LessThanOrEqual,
  Literal,
  Predicate,
  Unevaluable
}
import org.apache.spark.sql.types.{LongType, TimestampType}

import io.eventtide.kernel.time.Clamped
import io.eventtide.kernel.window.TimeRange

/** Selects the batches and files of the index that may have rows for a query's filters. It uses any
  * condition on `_batch_id`, and comparisons of `_event_time` with a literal.
  *
  * @param filters
  *   the filters, all of which a row must pass
  */
private[latelog] final class LateSelection(filters: Seq[Expression]) {
  private val byBatch = filters.flatMap(LateSelection.onBatch)
  private val byTime = filters.flatMap(LateSelection.onTime)
  private val times = byTime.foldLeft(LateSelection.AllTimes) { (all, one) =>
    TimeRange(math.max(all.lowest, one.lowest), math.min(all.highest, one.highest))
  }

  def takes(batchId: Long): Boolean = byBatch.forall { condition =>
    // A condition that cannot be evaluated here is left to the row filter.
    Try(condition.eval(InternalRow(batchId))).getOrElse(true)
  }

  def takes(file: LateFileInfo): Boolean = byTime.isEmpty || file.times.exists { of =>
    of.lowest <= times.highest && of.highest >= times.lowest
  }
}

private[latelog] object LateSelection {
  val All = new LateSelection(Nil)

  private val AllTimes = TimeRange(Long.MinValue, Long.MaxValue)

  private def onBatch(filter: Expression): Option[BasePredicate] = {
    val isOnBatch = filter.references.nonEmpty && filter.references.forall(_.name == "_batch_id")
    Option.when(isOnBatch && filter.deterministic && !filter.exists(isLeftToSpark)) {
      Predicate.createInterpreted(filter.transform { case _: AttributeReference =>
        BoundReference(0, LongType, nullable = false)
      })
    }
  }

  private def isLeftToSpark(expression: Expression): Boolean = expression match {
    case _: AttributeReference => false
    case other => other.isInstanceOf[Unevaluable]
  }

  private def onTime(filter: Expression): Option[TimeRange] = filter match {
    case compared @ BinaryComparison(Time(), Literal(micros: Long, TimestampType)) =>
      rangeOf(compared, micros)
    case compared @ BinaryComparison(Literal(micros: Long, TimestampType), Time()) =>
      rangeOf(mirrored(compared), micros)
    case _ => None
  }

  private object Time {
    def unapply(expression: Expression): Boolean = expression match {
      case column: AttributeReference => column.name == "_event_time"
      case _ => false
    }
  }

  private def mirrored(compared: BinaryComparison): Expression = compared match {
    case LessThan(left, right) => GreaterThan(right, left)
    case LessThanOrEqual(left, right) => GreaterThanOrEqual(right, left)
    case GreaterThan(left, right) => LessThan(right, left)
    case GreaterThanOrEqual(left, right) => LessThanOrEqual(right, left)
    case equal => equal
  }

  private def rangeOf(compared: Expression, micros: Long): Option[TimeRange] = compared match {
    case _: EqualTo | _: EqualNullSafe => Some(TimeRange(micros, micros))
    case _: LessThan => Some(TimeRange(Long.MinValue, Clamped.subtract(micros, 1)))
    case _: LessThanOrEqual => Some(TimeRange(Long.MinValue, micros))
    case _: GreaterThan => Some(TimeRange(Clamped.add(micros, 1), Long.MaxValue))
    case _: GreaterThanOrEqual => Some(TimeRange(micros, Long.MaxValue))
    case _ => None
  }
}
