package io.eventtide.spark.operators.preagg

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.aggregate.{
  AggregateExpression,
  DeclarativeAggregate
}
import org.apache.spark.sql.catalyst.expressions.codegen.{GenerateUnsafeRowJoiner, UnsafeRowJoiner}
import org.apache.spark.sql.catalyst.expressions.{
  Attribute,
  BindReferences,
  BoundReference,
  Expression,
  GenericInternalRow,
  JoinedRow,
  UnsafeRow
}
import org.apache.spark.sql.eventtide.TaskMemory
import org.apache.spark.sql.execution.metric.SQLMetric
import org.apache.spark.sql.types.{BinaryType, StructField, StructType}

import io.eventtide.spark.operators.LookaheadIterator
import io.eventtide.spark.state.{AggregateUpdater, Projections}

/** How rows update the buffers of their keys and frames; sent to the executors.
  *
  * @param keys
  *   the key expressions, over an input row
  * @param frame
  *   the frame number, over an input row
  * @param initial
  *   the initial values of a buffer
  * @param values
  *   the updated buffer columns, over the buffer and an input row
  * @param others
  *   columns between the key and its frames in an output row, which are null
  */
private[preagg] final case class FrameAggregation(
    keys: Seq[Expression],
    frame: Expression,
    initial: Seq[Expression],
    values: Seq[Expression],
    others: StructType
) {

  /** The columns of an input row that `values` reads. */
  lazy val columns: Seq[PrefetchBatchCodegen.Column] = values
    .flatMap(_.collect { case used: BoundReference if used.ordinal >= initial.length => used })
    .distinctBy(_.ordinal)
    .map(used =>
      PrefetchBatchCodegen.Column(used.ordinal - initial.length, used.dataType, used.nullable)
    )

  /** Opens the map of a task; its memory is freed at the end of the task. */
  def open(peakMemory: SQLMetric): FrameHashMap = {
    val memory = TaskMemory.open(peakMemory)
    openWith(memory.reserve(_))
  }

  /** As `open`, with another memory manager.
    *
    * @param reserve
    *   reserves this number of bytes; false if they are not available
    */
  private[preagg] def openWith(reserve: Long => Boolean): FrameHashMap = {
    val empty = Projections.unsafe(initial)(InternalRow.empty).copy()
    new FrameHashMap(keys.length, empty, joiner, reserve)
  }

  private def joiner: UnsafeRowJoiner = {
    val withFrames =
      GenerateUnsafeRowJoiner.create(
        StructType(keyColumns ++ others),
        FrameAggregation.FramesColumn
      )
    if (others.isEmpty) withFrames
    else {
      val nulls =
        Projections.columns(StructType(others))(new GenericInternalRow(others.length)).copy()
      val withNulls = GenerateUnsafeRowJoiner.create(StructType(keyColumns), others)
      new UnsafeRowJoiner {
        override def join(key: UnsafeRow, frames: UnsafeRow): UnsafeRow =
          withFrames.join(withNulls.join(key, nulls), frames)
      }
    }
  }

  def keyColumns: Seq[StructField] = keys.zipWithIndex.map { case (key, i) =>
    StructField(s"key$i", key.dataType, key.nullable)
  }
}

private[preagg] object FrameAggregation {

  /** The column that holds a key's frames. */
  val FramesColumn: StructType = StructType(Seq(StructField("frames", BinaryType)))

  def of(
      keys: Seq[Expression],
      frame: Expression,
      aggregates: Seq[AggregateExpression],
      input: Seq[Attribute],
      others: StructType = StructType(Nil)
  ): FrameAggregation = {
    val functions = aggregates.map(call => declarative(call) -> call.filter)
    val buffers = functions.flatMap(_._1.aggBufferAttributes)
    val values = functions.flatMap { case (function, filter) =>
      AggregateUpdater.values(function, filter)
    }
    FrameAggregation(
      BindReferences.bindReferences(keys, input),
      BindReferences.bindReference(frame, input),
      functions.flatMap(_._1.initialValues),
      BindReferences.bindReferences(values, buffers ++ input),
      others
    )
  }

  private def declarative(call: AggregateExpression) = call.aggregateFunction match {
    case function: DeclarativeAggregate => function
    case other => throw new IllegalStateException(s"not declarative: $other")
  }
}

/** The rows of one partition, aggregated without generated code for the whole stage. */
private[preagg] final class PartialFrameIterator(
    rows: Iterator[InternalRow],
    updates: FrameAggregation,
    frames: FrameHashMap
) extends LookaheadIterator[InternalRow] {
  private val take = new FrameUpdater(updates, frames)

  protected def current: InternalRow = frames.row

  protected def advance(): Boolean = {
    var found = frames.next()
    while (!found && rows.hasNext) {
      while (rows.hasNext && !frames.isFull) take(rows.next())
      found = frames.next()
    }
    found
  }
}

/** Updates the buffers of rows' keys and frames. */
private[preagg] final class FrameUpdater(updates: FrameAggregation, frames: FrameHashMap) {
  private val keyOf = Projections.unsafe(updates.keys)
  private val update = Projections.mutable(updates.values, Nil)
  private val bufferAndRow = new JoinedRow

  def apply(row: InternalRow): Unit = {
    val frame = updates.frame.eval(row).asInstanceOf[Long]
    val buffer = frames.buffer(keyOf(row), frame)
    update.target(buffer)(bufferAndRow(buffer, row)): Unit
  }
}
