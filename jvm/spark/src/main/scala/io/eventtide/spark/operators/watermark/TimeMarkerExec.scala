package io.eventtide.spark.operators.watermark

import java.util.UUID

import org.apache.spark.rdd.RDD
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.codegen.UnsafeRowWriter
import org.apache.spark.sql.catalyst.expressions.{
  Attribute,
  AttributeReference,
  DirectShufflePartitionID,
  Expression,
  Literal
}
import org.apache.spark.sql.catalyst.plans.physical.{
  HashPartitioning,
  Partitioning,
  ShufflePartitionIdPassThrough,
  UnknownPartitioning
}
import org.apache.spark.sql.execution.exchange.ShuffleExchangeExec
import org.apache.spark.sql.execution.{SparkPlan, UnaryExecNode}
import org.apache.spark.sql.types.{BinaryType, IntegerType}

import io.eventtide.spark.state.Projections

/** Sends the event times of a task's rows to all partitions of a window, between the rows: how the
  * query's watermark moves within a batch of real-time mode. See `MarkedRows`.
  *
  * @param keys
  *   the columns by which rows are partitioned; empty if there is one partition
  * @param partition
  *   the added column with the partition of a row, or of a marker
  * @param marker
  *   the added column with a marker; null in rows
  * @param positionOf
  *   the position of an input in the query's plan, by the id of its watermark node
  */
final case class TimeMarkerExec(
    keys: Seq[Attribute],
    partitions: Int,
    partition: Attribute,
    marker: Attribute,
    @transient positionOf: UUID => Int,
    child: SparkPlan
) extends UnaryExecNode {
  override def output: Seq[Attribute] = child.output :+ partition :+ marker

  override def outputPartitioning: Partitioning = UnknownPartitioning(
    child.outputPartitioning.numPartitions
  )

  override protected def doExecute(): RDD[InternalRow] = {
    val gate = new SourceGate
    val markers = new TimeMarkers(child.collect { case node: PolicyWatermarkExec =>
      positionOf(node.nodeId) -> node.eventTimeStats
    })
    child.foreach {
      case source: HasSourceGate => source.open(gate)
      case _ => ()
    }
    val partitionOf: Expression =
      if (partitions == 1) Literal(0)
      else HashPartitioning(keys, partitions).partitionIdExpression
    val columns = child.output
    val count = partitions
    child.execute().mapPartitions { rows =>
      new MarkedRows(rows, gate, markers, new MarkedOutput(columns, partitionOf, count))
    }
  }

  override protected def withNewChildInternal(newChild: SparkPlan): TimeMarkerExec =
    copy(child = newChild)
}

/** A node that reads a source through a gate, if one is open. */
private[spark] trait HasSourceGate { this: SparkPlan =>
  @transient private var gate = Option.empty[SourceGate]

  private[watermark] def open(gate: SourceGate): Unit = this.gate = Some(gate)

  protected def gated(rows: RDD[InternalRow]): RDD[InternalRow] =
    gate.fold(rows)(open => rows.mapPartitions(open.rows(_)))
}

private[spark] object TimeMarkerExec {

  /** The rows of `child` and their markers, shuffled to the partitions of `keys`. */
  def shuffled(
      keys: Seq[Attribute],
      partitions: Int,
      positionOf: UUID => Int,
      child: SparkPlan
  ): SparkPlan = {
    val partition = AttributeReference("_eventtide_partition", IntegerType, nullable = false)()
    val marker = AttributeReference("_eventtide_marker", BinaryType)()
    val marked = TimeMarkerExec(keys, partitions, partition, marker, positionOf, child)
    val byColumn = ShufflePartitionIdPassThrough(DirectShufflePartitionID(partition), partitions)
    ShuffleExchangeExec(byColumn, marked)
  }
}

/** Makes the output rows of a task; each is valid until the next one.
  *
  * @param partitionOf
  *   the partition of a row
  */
private[watermark] final class MarkedOutput(
    columns: Seq[Attribute],
    partitionOf: Expression,
    val partitions: Int
) {
  private val ofRow =
    Projections.unsafe(columns ++ Seq(partitionOf, Literal(null, BinaryType)), columns)
  private val writer = new UnsafeRowWriter(columns.length + 2)

  def row(row: InternalRow): InternalRow = ofRow(row)

  def marker(bytes: Array[Byte], partition: Int): InternalRow = {
    writer.reset()
    writer.zeroOutNullBytes()
    columns.indices.foreach(writer.setNullAt(_))
    writer.write(columns.length, partition)
    writer.write(columns.length + 1, bytes)
    writer.getRow
  }
}
