package io.eventtide.spark.spi

import scala.collection.mutable

import org.apache.spark.sql.catalyst.expressions.{Attribute, UnsafeRow}
import org.apache.spark.unsafe.Platform
import org.apache.spark.unsafe.array.ByteArrayMethods

import io.eventtide.kernel.window.FrameWindowState

/** A key, or a group of keys, whose own watermark is behind those of others, and which has an open
  * window.
  *
  * @param key
  *   the bytes of its row, by which its state is found again
  * @param watermark
  *   its own, in microseconds
  * @param due
  *   the watermark at which its next window closes, in microseconds
  */
private[spark] final case class LaggingKey(
    key: Array[Byte],
    name: String,
    watermark: Long,
    due: Long
)

/** The keys of one partition with the lowest watermarks, where each key, or each group of keys, has
  * its own.
  *
  *   - '''Guarantee:''' what is said of a key is so after this batch. A key that is further behind than
  *     all of them may be missing: only keys that had a turn, and those that were known, are looked at.
  *   - '''Restart:''' nothing to save; the first batch of a run looks at all keys.
  *
  * @param known
  *   those of the batch before, as bytes; they are looked at again
  */
private[spark] final class LaggingKeys(columns: Seq[Attribute], known: Seq[Array[Byte]]) {
  private val left = mutable.HashSet.from(known.map(rowOf)) // of these, without a turn yet
  private val lowest = mutable.PriorityQueue.empty[LaggingKey](Ordering.by(_.watermark))
  private lazy val nameOf = SubstreamName.of(columns.map(_.dataType))

  /** A key has had its turn; it stays the caller's. What was said of it before counts no more. */
  def offer(key: UnsafeRow, watermark: Option[Long], due: => Long): Unit = {
    if (left.nonEmpty) left.remove(key): Unit
    watermark.filterNot(isAbove).foreach { low =>
      remove(key)
      if (!isFull || low < lowest.head.watermark) put(key, low, due)
    }
  }

  private def isFull: Boolean = lowest.size == LaggingKeys.Most
  private def isAbove(watermark: Long): Boolean = isFull && watermark > lowest.head.watermark

  private def remove(key: UnsafeRow): Unit = if (lowest.exists(isOf(key))) {
    val others = lowest.toSeq.filterNot(isOf(key))
    lowest.clear()
    lowest ++= others
  }

  private def isOf(key: UnsafeRow)(one: LaggingKey): Boolean =
    one.key.length == key.getSizeInBytes && ByteArrayMethods.arrayEquals(
      key.getBaseObject,
      key.getBaseOffset,
      one.key,
      Platform.BYTE_ARRAY_OFFSET,
      one.key.length
    )

  private def put(key: UnsafeRow, watermark: Long, due: Long): Unit = if (
    due != FrameWindowState.Never
  ) {
    if (isFull) { val _ = lowest.dequeue() }
    val name = nameOf(key.toSeq(columns.map(_.dataType)))
    lowest += LaggingKey(key.getBytes, name, watermark, due)
  }

  /** The known keys that had no turn. */
  def unseen: Seq[UnsafeRow] = left.toSeq

  def result: Seq[LaggingKey] = lowest.toSeq.sortBy(_.watermark)

  private def rowOf(bytes: Array[Byte]): UnsafeRow = {
    val row = new UnsafeRow(columns.length)
    row.pointTo(bytes, bytes.length)
    row
  }
}

private[spark] object LaggingKeys {

  /** How many keys are known of a partition, and of a query. */
  val Most = 3
}
