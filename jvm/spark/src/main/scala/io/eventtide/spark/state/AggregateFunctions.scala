package io.eventtide.spark.state

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.aggregate.{
  AggregateFunction,
  ApproximatePercentile,
  Collect,
  DeclarativeAggregate,
  ImperativeAggregate,
  NoOp,
  PercentileBase,
  TypedImperativeAggregate
}
import org.apache.spark.sql.catalyst.expressions.{
  Attribute,
  Expression,
  JoinedRow,
  MutableProjection,
  SpecificInternalRow,
  UnsafeRow
}
import org.apache.spark.sql.types.{DataType, ObjectType}

/** The aggregate functions of a window, with one buffer row for all of them; one instance per task.
  *
  * A buffer is a row of all functions' buffer columns, in the format of Spark's partial
  * aggregation.
  *
  * @param counts
  *   the `counts` of `Inverse` for functions that can deduct; empty for others
  * @param rows
  *   the input rows, if they are not aggregated; None for rows of partial aggregation
  */
private[spark] final class AggregateFunctions(
    aggregates: Seq[AggregateFunction],
    counts: Seq[Int],
    rows: Option[InputColumns] = None
) {
  private val functions: Seq[AggregateFunction] = AggregateFunctions.placed(aggregates)

  val attributes: Seq[Attribute] = functions.flatMap(_.aggBufferAttributes)
  val types: Array[DataType] = attributes.map(_.dataType).toArray

  private val imperative: Array[ImperativeAggregate] =
    functions.collect { case f: ImperativeAggregate => f }.toArray

  private val offsets: Array[Int] =
    functions
      .zip(AggregateFunctions.offsets(functions))
      .collect { case (_: ImperativeAggregate, at) => at }
      .toArray

  val typed: Array[TypedImperativeAggregate[Any]] =
    functions.collect { case f: TypedImperativeAggregate[_] =>
      f.asInstanceOf[TypedImperativeAggregate[Any]]
    }.toArray

  private val initialValues = projection(_.initialValues, Nil)

  private val inputs: Seq[Attribute] = functions.flatMap(_.inputAggBufferAttributes)
  private val mergeValues = projection(_.mergeExpressions, attributes ++ inputs)
  private val joined = new JoinedRow

  private def projection(
      of: DeclarativeAggregate => Seq[Expression],
      input: Seq[Attribute]
  ): MutableProjection = Projections.mutable(
    functions.flatMap {
      case declarative: DeclarativeAggregate => of(declarative)
      case other => Seq.fill(other.aggBufferAttributes.length)(NoOp)
    },
    input
  )

  /** Resets a row of the buffer columns to the initial values. */
  def initialize(buffer: InternalRow): Unit = {
    initialValues.target(buffer)(InternalRow.empty): Unit
    imperative.foreach(_.initialize(buffer))
  }

  /** A row of the initial values, as they are saved. */
  def empty: UnsafeRow = {
    val values = new SpecificInternalRow(types.toSeq)
    initialize(values)
    typed.foreach(_.serializeAggregateBufferInPlace(values))
    Projections.columns(types.toSeq)(values).copy()
  }

  /** Merges a buffer of partial aggregation or a saved buffer. */
  def merge(into: InternalRow, from: InternalRow): Unit = {
    mergeValues.target(into)(joined(into, from)): Unit
    var i = 0
    while (i < imperative.length) {
      imperative(i).merge(into, from)
      i += 1
    }
  }

  private val updates = rows.map(new AggregateUpdater(functions, attributes, _))

  /** The number of columns of an input row. */
  val inputColumns: Int = rows.fold(types.length)(_.columns.length)

  /** Adds an input row. */
  def take(into: InternalRow, row: InternalRow): Unit = updates match {
    case None => merge(into, row)
    case Some(update) => update(into, row)
  }

  /** Whether input rows are buffers. */
  def takesBuffers: Boolean = rows.isEmpty

  /** As `merge`, for two buffers in memory, whose typed columns hold objects, not bytes. */
  def mergeObjects(into: InternalRow, from: InternalRow): Unit = {
    mergeValues.target(into)(joined(into, from)): Unit
    var i = 0
    while (i < imperative.length) {
      imperative(i) match {
        case objects: TypedImperativeAggregate[_] =>
          mergeTyped(objects.asInstanceOf[TypedImperativeAggregate[Any]], offsets(i), into, from)
        case plain => plain.merge(into, from)
      }
      i += 1
    }
  }

  // In Spark, a merged buffer has just been deserialized. Some functions take ownership of it, and
  // some support no other form.
  private def mergeTyped(
      function: TypedImperativeAggregate[Any],
      at: Int,
      into: InternalRow,
      from: InternalRow
  ): Unit =
    if (AggregateFunctions.leavesAlone(function)) function.mergeBuffersObjects(into, from)
    else {
      val value = from.get(at, AggregateFunctions.AnyObject)
      lent.update(at, function.deserialize(function.serialize(value)))
      function.mergeBuffersObjects(into, lent)
    }

  private lazy val lent = new SpecificInternalRow(types.toSeq)

  private lazy val deductValues =
    Projections.mutable(Inverse.expressions(functions, counts), attributes ++ inputs)

  /** Removes a merged buffer, for functions that can deduct. */
  def deduct(into: InternalRow, from: InternalRow): Unit =
    deductValues.target(into)(joined(into, from)): Unit

  private val results = new SpecificInternalRow(functions.map(_.dataType))

  private val evaluated = Projections
    .mutable(
      functions.map {
        case declarative: DeclarativeAggregate => declarative.evaluateExpression
        case _ => NoOp
      },
      attributes
    )
    .target(results)

  private val evaluatedByCall: Array[(Int, ImperativeAggregate)] =
    functions.zipWithIndex.collect { case (f: ImperativeAggregate, i) => i -> f }.toArray

  /** The results of all functions, valid until the next call. */
  def evaluate(buffer: InternalRow): InternalRow = {
    evaluated(buffer): Unit
    evaluatedByCall.foreach { case (i, function) => results.update(i, function.eval(buffer)) }
    results
  }
}

private[spark] object AggregateFunctions {

  /** Whether all buffers have a fixed length and can be updated in place. */
  def areFixed(aggregates: Seq[AggregateFunction]): Boolean =
    aggregates.forall {
      case _: TypedImperativeAggregate[_] => false
      case other => other.aggBufferAttributes.forall(column => UnsafeRow.isMutable(column.dataType))
    }

  private val AnyObject = ObjectType(classOf[AnyRef])

  // These functions only read a merged buffer, in any form.
  private def leavesAlone(function: AggregateFunction): Boolean = function match {
    case _: Collect[_] | _: PercentileBase | _: ApproximatePercentile => true
    case _ => false
  }

  // Imperative functions need the offset of their columns in a buffer row.
  private def placed(aggregates: Seq[AggregateFunction]): Seq[AggregateFunction] =
    aggregates.zip(offsets(aggregates)).map {
      case (function: ImperativeAggregate, at) =>
        function.withNewMutableAggBufferOffset(at).withNewInputAggBufferOffset(at)
      case (function, _) => function
    }

  private def offsets(aggregates: Seq[AggregateFunction]): Seq[Int] =
    aggregates.scanLeft(0)(_ + _.aggBufferAttributes.length)
}
