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
  MutableProjection,
  Predicate
}

/** Rows that have not been aggregated.
  *
  * @param filters
  *   which rows each function takes; None for all
  */
private[spark] final case class InputColumns(
    columns: Seq[Attribute],
    filters: Seq[Option[Expression]]
)

/** Adds rows to the buffers of functions, which know where in a buffer's row they are. */
private[spark] final class AggregateUpdater(
    functions: Seq[AggregateFunction],
    buffers: Seq[Attribute],
    rows: InputColumns
) {
  private val values = MutableProjection.create(
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

  /** What the buffer columns of a function become with a row. */
  def values(function: DeclarativeAggregate, filter: Option[Expression]): Seq[Expression] =
    function.updateExpressions.zip(function.aggBufferAttributes).map { case (value, buffer) =>
      filter.fold(value)(If(_, value, buffer))
    }
}
