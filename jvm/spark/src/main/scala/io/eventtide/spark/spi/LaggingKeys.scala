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
  import LaggingKeys.Entry

  private val left = mutable.HashSet.from(known.map(rowOf)) // known keys not yet processed
  private val lowest = new Array[Entry](LaggingKeys.Most) // in no order
  private var size = 0
  private lazy val nameOf = SubstreamName.of(columns.map(_.dataType))

  /** Records a processed key, replacing its previous values. The caller may reuse `key` afterwards.
    */
  def offer(key: UnsafeRow, watermark: Option[Long], due: => Long): Unit = {
    if (left.nonEmpty) left.remove(key): Unit
    val at = indexOf(key)
    if (watermark.isEmpty) removeAt(at)
    else if (at >= 0) replace(at, watermark.get, due)
    else if (!isFull || watermark.get < lowest(highest).watermark) put(key, watermark.get, due)
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

  private def indexOf(key: UnsafeRow): Int = {
    var i = size - 1
    while (i >= 0 && !isOf(key, lowest(i))) i -= 1
    i
  }

  private def removeAt(i: Int): Unit = if (i >= 0) {
    size -= 1
    lowest(i) = lowest(size)
  }

  private def isOf(key: UnsafeRow, one: Entry): Boolean =
    one.key.length == key.getSizeInBytes && ByteArrayMethods.arrayEquals(
      key.getBaseObject,
      key.getBaseOffset,
      one.key,
      Platform.BYTE_ARRAY_OFFSET,
      one.key.length
    )

  private def put(key: UnsafeRow, watermark: Long, due: Long): Unit =
    if (due != FrameWindowState.Never) {
      if (isFull) removeAt(highest)
      val name = nameOf(key.toSeq(columns.map(_.dataType)))
      lowest(size) = new Entry(key.copy().getBytes, name, watermark, due)
      size += 1
    }

  // In real-time mode, each row of a key offers it.
  private def replace(i: Int, watermark: Long, due: Long): Unit =
    if (due == FrameWindowState.Never) removeAt(i)
    else {
      lowest(i).watermark = watermark
      lowest(i).due = due
    }

  /** The known keys that were not processed. */
  def unseen: Seq[UnsafeRow] = left.toSeq

  def result: Seq[LaggingKey] = lowest
    .take(size)
    .toSeq
    .map(one => LaggingKey(one.key, one.name, one.watermark, one.due))
    .sortBy(_.watermark)

  private def rowOf(bytes: Array[Byte]): UnsafeRow = {
    val row = new UnsafeRow(columns.length)
    row.pointTo(bytes, bytes.length)
    row
  }
}

private[spark] object LaggingKeys {

  /** The maximum number of keys that are reported for a partition, and for a query. */
  val Most = 3

  private final class Entry(
      val key: Array[Byte],
      val name: String,
      var watermark: Long,
      var due: Long
  )
}
