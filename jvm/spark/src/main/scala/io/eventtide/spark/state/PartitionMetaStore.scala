package io.eventtide.spark.state

import java.nio.charset.StandardCharsets.UTF_8

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.UnsafeRow
import org.apache.spark.sql.execution.streaming.state.StateStore

import io.eventtide.kernel.window.{ByteSink, ByteSource}

/** Stores the metadata of a state partition, as one row in a separate column family.
  *
  * Spark's store can count its rows too, but then it reads each row before it writes it.
  */
private[state] final class PartitionMetaStore(store: StateStore, families: WindowStateLayout) {
  private val key =
    Projections.columns(families.partitionKeys).apply(InternalRow(PartitionMetaStore.Id))

  /** The metadata after the previous batch; None in a new partition. */
  def read(): Option[PartitionMeta] =
    Option(store.get(key, WindowStateLayout.PartitionMeta)).map(PartitionMetaStore.read)

  def write(metadata: PartitionMeta): Unit = {
    val values = new BinaryRow
    val out = values.begin()
    out.putByte(FrameStore.Version)
    out.putCount(metadata.keys)
    out.putNumber(metadata.byEnd)
    out.putNumber(metadata.byClock)
    out.putNumber(metadata.closed)
    out.putNumber(metadata.watermark)
    writeText(metadata.timingOptions, out)
    metadata.eventTimers.write(out)
    metadata.processingTimers.write(out)
    out.putCount(metadata.pageBits.toLong)
    store.put(key, values.end(), WindowStateLayout.PartitionMeta)
  }

  private def writeText(text: String, out: ByteSink): Unit = {
    val bytes = text.getBytes(UTF_8)
    out.putCount(bytes.length.toLong)
    bytes.foreach(byte => out.putByte(byte.toInt))
  }
}

private[state] object PartitionMetaStore {

  /** The key of the metadata. `BufferLayoutStore` has another key. */
  val Id = 0L

  /** The metadata of a saved row. */
  def read(value: UnsafeRow): PartitionMeta = {
    val in = new ByteSource
    BinaryRow.open(value, in)
    FrameStore.checkVersion(in.getByte())
    val metadata = PartitionMeta(
      in.getCount(),
      in.getNumber(),
      in.getNumber(),
      in.getNumber(),
      in.getNumber(),
      readText(in)
    )
    metadata.eventTimers.read(in)
    metadata.processingTimers.read(in)
    metadata.copy(pageBits = in.getCount().toInt)
  }

  private def readText(in: ByteSource): String = {
    val length = in.getCount().toInt
    new String(Array.fill(length)(in.getByte().toByte), UTF_8)
  }
}

/** The metadata of a state partition.
  *
  * @param keys
  *   the number of keys
  * @param byEnd
  *   the first number of the index by window end; `FrameWindowState.Never` if it is empty
  * @param byClock
  *   the first number of the index by processing time; `FrameWindowState.Never` if it is empty
  * @param closed
  *   the limit up to which timers have fired: a watermark or a boundary
  * @param watermark
  *   the highest per-key watermark so far; `Long.MinValue` for none
  * @param timingOptions
  *   the options that determine per-key watermarks and idleness
  * @param eventTimers
  *   the keys by their timers, if these are watermarks
  * @param processingTimers
  *   the keys by their processing-time timers
  * @param pageBits
  *   the bits of a key's hash that determine its page; 0 without pages
  */
private[spark] final case class PartitionMeta(
    keys: Long,
    byEnd: Long,
    byClock: Long,
    closed: Long,
    watermark: Long,
    timingOptions: String,
    eventTimers: TimerHistogram = new TimerHistogram,
    processingTimers: TimerHistogram = new TimerHistogram,
    pageBits: Int = 0
)
