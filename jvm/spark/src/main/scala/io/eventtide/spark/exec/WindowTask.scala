package io.eventtide.spark.exec

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.aggregate.AggregateFunction
import org.apache.spark.sql.catalyst.expressions.{
  Attribute,
  BindReferences,
  BoundReference,
  GenericInternalRow,
  JoinedRow,
  UnsafeProjection,
  UnsafeRow
}

import io.eventtide.kernel.window.{FrameArchive, FrameRing}
import io.eventtide.spark.options.WindowSettings
import io.eventtide.spark.state.{AggregateCalls, FrameFamilies, WindowBuffers}

/** What the tasks of one batch need to know of a window; sent to the executors.
  *
  * @param passed
  *   the boundary up to which windows had closed before this batch
  * @param closing
  *   the boundary up to which windows close in this batch
  */
private[exec] final case class WindowTask(
    keys: Seq[Attribute],
    aggregates: WindowFunctions,
    result: WindowResult,
    settings: WindowSettings,
    families: FrameFamilies,
    input: Seq[Attribute],
    batchId: Long,
    passed: Long,
    closing: Long
) {

  /** Where the frame is in a row of the input; the buffers come after it. */
  def frameOrdinal: Int = keys.length

  def newCalls: AggregateCalls = new AggregateCalls(aggregates.functions, aggregates.counts)

  /** An empty ring over buffers of these calls. */
  def ring(buffers: WindowBuffers, archive: FrameArchive, blockSize: Int): FrameRing =
    FrameRing(settings.shape, buffers, aggregates.counts.nonEmpty, archive, blockSize)

  def buffers(calls: AggregateCalls): WindowBuffers =
    WindowBuffers(calls, AggregateCalls.areFixed(aggregates.functions))

  def keyOf: UnsafeProjection = UnsafeProjection.create(keys, input)

  def bufferOf: UnsafeProjection = UnsafeProjection.create(
    input.zipWithIndex.drop(frameOrdinal + 1).map { case (column, i) =>
      BoundReference(i, column.dataType, column.nullable)
    }
  )
}

/** The functions of a window.
  *
  * @param counts
  *   what `Deduction` says of functions that can deduct; empty for others
  */
final case class WindowFunctions(functions: Seq[AggregateFunction], counts: Seq[Int])

/** Makes the rows of results; one instance a task. */
private[exec] final class ResultRows(task: WindowTask, calls: AggregateCalls) {
  private val bounds = new GenericInternalRow(2)
  private val keyAndBounds = new JoinedRow
  private val all = new JoinedRow

  private val columns = UnsafeProjection.create(
    BindReferences.bindReferences(
      task.result.columns,
      task.keys ++ task.result.bounds ++ task.result.aggregates
    )
  )

  /** The row of the window that ends at a boundary, good until the next one. */
  def row(key: UnsafeRow, end: Long, buffer: InternalRow): UnsafeRow = {
    val grid = task.settings.grid
    bounds.setLong(0, grid.start(task.settings.shape.start(end)))
    bounds.setLong(1, grid.start(end))
    columns(all(keyAndBounds(key, bounds), calls.evaluate(buffer)))
  }
}
