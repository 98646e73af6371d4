package io.eventtide.spark.state

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.aggregate.{
  AggregateFunction,
  DeclarativeAggregate,
  ImperativeAggregate,
  NoOp
}
import org.apache.spark.sql.catalyst.expressions.{
  Attribute,
  BasePredicate,
  BindReferences,
  Expression,
  If,
  JoinedRow,
  Predicate
}

/** The columns of input rows that are not aggregated.
  *
  * @param filters
  *   the filter of each function; None for all rows
  */
private[spark] final case class InputColumns(
    columns: Seq[Attribute],
    filters: Seq[Option[Expression]]
)

/** Adds input rows to the buffers of functions, whose buffer offsets are set. */
private[spark] final class AggregateUpdater(
    functions: Seq[AggregateFunction],
    buffers: Seq[Attribute],
    rows: InputColumns
) {
  private val values = Projections.mutable(
    functions.zip(rows.filters).flatMap {
      case (function: DeclarativeAggregate, filter) => AggregateUpdater.values(function, filter)
      case (other, _) => Seq.fill(other.aggBufferAttributes.length)(NoOp)
    },
    buffers ++ rows.columns
  )

  private val byCall: Array[(ImperativeAggregate, Option[BasePredicate])] =
    functions
      .zip(rows.filters)
      .collect { case (function: ImperativeAggregate, filter) =>
        val bound = BindReferences.bindReference[Expression](function, rows.columns)
        (bound.asInstanceOf[ImperativeAggregate], filter.map(Predicate.create(_, rows.columns)))
      }
      .toArray

  private val joined = new JoinedRow

  def apply(into: InternalRow, row: InternalRow): Unit = {
    values.target(into)(joined(into, row)): Unit
    var i = 0
    while (i < byCall.length) {
      val (function, filter) = byCall(i)
      if (filter.forall(_.eval(row))) function.update(into, row)
      i += 1
    }
  }
}

private[spark] object AggregateUpdater {

  /** The updated buffer columns of a function after an input row. */
  def values(function: DeclarativeAggregate, filter: Option[Expression]): Seq[Expression] =
    function.updateExpressions.zip(function.aggBufferAttributes).map { case (value, buffer) =>
      filter.fold(value)(If(_, value, buffer))
    }
}
