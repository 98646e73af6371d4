package io.eventtide.spark.operators.preagg

import org.apache.spark.rdd.RDD
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{
  Attribute,
  AttributeSet,
  BoundReference,
  GenericInternalRow,
  JoinedRow,
  Literal,
  UnsafeProjection,
  UnsafeRow
}
import org.apache.spark.sql.catalyst.plans.physical.Partitioning
import org.apache.spark.sql.execution.{SparkPlan, UnaryExecNode}
import org.apache.spark.sql.types.BinaryType

/** Puts rows of a key into one row before the shuffle, in the order of their arrival: a row costs
  * less in the shuffle and in the sort than by itself.
  *
  * A row with packed rows has the keys and the arrival of its first row, and no other column. If a
  * task has few rows for each key, its rows pass through unchanged.
  *
  * @param keys
  *   the first columns of a row
  * @param packs
  *   the column of the packed rows; null in a row that passes through
  */
final case class PackedRowsExec(
    keys: Seq[Attribute],
    arrival: Attribute,
    packs: Attribute,
    child: SparkPlan
) extends UnaryExecNode {
  override def output: Seq[Attribute] = child.output.map { column =>
    if (isKept(column)) column else column.withNullability(true)
  } :+ packs

  private def isKept(column: Attribute) =
    keys.exists(_.exprId == column.exprId) || column.exprId == arrival.exprId

  override def producedAttributes: AttributeSet = AttributeSet(packs)
  override def outputPartitioning: Partitioning = child.outputPartitioning

  override protected def doExecute(): RDD[InternalRow] = {
    val (columns, keyCount) = (child.output, keys.length)
    val kept = columns.map(isKept)
    child.execute().mapPartitions(new PackedRowsIterator(_, columns, kept, keyCount))
  }

  override protected def withNewChildInternal(newChild: SparkPlan): PackedRowsExec =
    copy(child = newChild)
}

/** The rows of one task, packed.
  *
  * @param kept
  *   whether a row with packed rows has the column
  * @param most
  *   the bytes of rows that are collected before they are packed
  */
private[preagg] final class PackedRowsIterator(
    rows: Iterator[InternalRow],
    columns: Seq[Attribute],
    kept: Seq[Boolean],
    keyCount: Int,
    most: Int = PackedRowsIterator.Most
) extends Iterator[InternalRow] {
  private val keyOf = FrameReader.projection(columns.take(keyCount), 0)
  private val packs = BoundReference(columns.length, BinaryType, nullable = true)
  private val packed = projection(isKept = kept)
  private val unpacked = projection(isKept = columns.map(_ => true))
  private val packer = new RowPacker
  private val pack = new GenericInternalRow(1)
  private val none = new GenericInternalRow(1)
  private val joined = new JoinedRow
  private val first = new UnsafeRow(columns.length)
  private var at = 0 // the key of the next pack
  private var packsRows = true

  private def projection(isKept: Seq[Boolean]): UnsafeProjection =
    UnsafeProjection.create(columns.zip(isKept).zipWithIndex.map { case ((column, kept), i) =>
      if (kept) BoundReference(i, column.dataType, column.nullable)
      else Literal(null, column.dataType)
    } :+ packs)

  def hasNext: Boolean = {
    if (at == packer.numKeys && packsRows) fill()
    at < packer.numKeys || rows.hasNext
  }

  def next(): InternalRow =
    if (!hasNext) throw new NoSuchElementException
    else if (at < packer.numKeys) nextPack()
    else unpacked(joined(rows.next(), none))

  private def nextPack(): InternalRow = {
    val bytes = packer.packOf(at)
    at += 1
    pack.update(0, bytes)
    packed(joined(RowPacker.firstOf(bytes, first), pack))
  }

  private def fill(): Unit = {
    if (packer.numRows > 0)
      packsRows = packer.numRows >= packer.numKeys * PackedRowsIterator.LeastRowsOfKey
    packer.clear()
    at = 0
    while (packsRows && rows.hasNext && packer.length < most) {
      val row = rows.next().asInstanceOf[UnsafeRow]
      packer.add(keyOf(row), row)
    }
    packer.pack()
  }
}

private object PackedRowsIterator {
  private val Most = 448 << 10
  private val LeastRowsOfKey = 2
}
