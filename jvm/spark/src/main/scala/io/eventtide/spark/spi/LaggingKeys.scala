package io.eventtide.spark.spi

import scala.collection.mutable

import org.apache.spark.sql.catalyst.expressions.{Attribute, UnsafeRow}
import org.apache.spark.unsafe.Platform
import org.apache.spark.unsafe.array.ByteArrayMethods

import io.eventtide.kernel.window.FrameWindowState

/** A key, or a group of keys, that has an open window and a lower watermark than other keys.
  *
  * @param key
  *   the bytes of the key's row, by which its state is found
  * @param watermark
  *   the key's watermark, in microseconds
  * @param due
  *   the watermark at which the key's next window closes, in microseconds
  */
private[spark] final case class LaggingKey(
    key: Array[Byte],
    name: String,
    watermark: Long,
    due: Long
)

/** The keys with the lowest watermarks in one partition, if each key or group of keys has its own
  * watermark.
  *
  *   - '''Guarantee:''' the values of a reported key are current after this batch. A key that is
  *     further behind may be missing, because only processed keys and keys of the previous batch
  *     are checked.
  *   - '''Restart:''' nothing to restore; the first batch of a run checks all keys.
  *
  * @param known
  *   the reported keys of the previous batch, as bytes; they are checked again
  */
private[spark] final class LaggingKeys(columns: Seq[Attribute], known: Seq[Array[Byte]]) {
  private val left = mutable.HashSet.from(known.map(rowOf)) // known keys not yet processed
  private val lowest = new Array[LaggingKey](LaggingKeys.Most) // in no order
  private var size = 0
  private lazy val nameOf = SubstreamName.of(columns.map(_.dataType))

  /** Records a processed key, replacing its previous values. The caller may reuse `key` afterwards.
    */
  def offer(key: UnsafeRow, watermark: Option[Long], due: => Long): Unit = {
    if (left.nonEmpty) left.remove(key): Unit
    remove(key)
    if (watermark.isDefined) {
      val low = watermark.get
      if (!isFull || low < lowest(highest).watermark) put(key, low, due)
    }
  }

  private def isFull: Boolean = size == LaggingKeys.Most

  /** The position of the key with the highest watermark. */
  private def highest: Int = {
    var found = 0
    var i = 1
    while (i < size) {
      if (lowest(i).watermark > lowest(found).watermark) found = i
      i += 1
    }
    found
  }

  private def remove(key: UnsafeRow): Unit = {
    var i = 0
    while (i < size && !isOf(key)(lowest(i))) i += 1
    if (i < size) removeAt(i)
  }

  private def removeAt(i: Int): Unit = {
    size -= 1
    lowest(i) = lowest(size)
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
    if (isFull) removeAt(highest)
    val name = nameOf(key.toSeq(columns.map(_.dataType)))
    lowest(size) = LaggingKey(key.copy().getBytes, name, watermark, due)
    size += 1
  }

  /** The known keys that were not processed. */
  def unseen: Seq[UnsafeRow] = left.toSeq

  def result: Seq[LaggingKey] = lowest.take(size).toSeq.sortBy(_.watermark)

  private def rowOf(bytes: Array[Byte]): UnsafeRow = {
    val row = new UnsafeRow(columns.length)
    row.pointTo(bytes, bytes.length)
    row
  }
}

private[spark] object LaggingKeys {

  /** The maximum number of keys that are reported for a partition, and for a query. */
  val Most = 3
}
