package io.eventtide.spark.state

import java.nio.charset.StandardCharsets.UTF_8

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.UnsafeProjection
import org.apache.spark.sql.execution.streaming.state.StateStore

import io.eventtide.kernel.window.{ByteSink, ByteSource}

/** What a partition of state remembers of itself: one row in a family of its own.
  *
  * Spark's store can count its rows too, but then it reads each before it writes it.
  */
private[state] final class PartitionMetaStore(store: StateStore, families: WindowStateLayout) {
  private val key = UnsafeProjection.create(families.partitionKeys).apply(InternalRow(0L))

  /** What the batch before has left; None in a partition that is new. */
  def read(): Option[PartitionMeta] =
    Option(store.get(key, WindowStateLayout.Partition)).map { value =>
      val in = new ByteSource
      BinaryRow.open(value, in)
      FrameStore.checkVersion(in.getByte())
      val facts = PartitionMeta(
        in.getCount(),
        in.getNumber(),
        in.getNumber(),
        in.getNumber(),
        in.getNumber(),
        readText(in)
      )
      facts.ends.read(in)
      facts.deadlines.read(in)
      facts
    }

  def write(facts: PartitionMeta): Unit = {
    val values = new BinaryRow
    val out = values.begin()
    out.putByte(FrameStore.Version)
    out.putCount(facts.keys)
    out.putNumber(facts.byEnd)
    out.putNumber(facts.byClock)
    out.putNumber(facts.closed)
    out.putNumber(facts.watermark)
    writeText(facts.rules, out)
    facts.ends.write(out)
    facts.deadlines.write(out)
    store.put(key, values.end(), WindowStateLayout.Partition)
  }

  private def writeText(text: String, out: ByteSink): Unit = {
    val bytes = text.getBytes(UTF_8)
    out.putCount(bytes.length.toLong)
    bytes.foreach(byte => out.putByte(byte.toInt))
  }

  private def readText(in: ByteSource): String = {
    val length = in.getCount().toInt
    new String(Array.fill(length)(in.getByte().toByte), UTF_8)
  }
}

/** @param keys
  *   how many there are
  * @param byEnd
  *   the first number of the index by end; `FrameWindowState.Never` if it is empty
  * @param byClock
  *   the same of the index by time
  * @param closed
  *   windows that end at this boundary or before have been given
  * @param watermark
  *   the highest that a key has ever had of its own; `Long.MinValue` for none
  * @param rules
  *   by which watermarks of keys move, and keys are silent
  * @param ends
  *   by which ends keys are due, where their rows come one by one
  * @param deadlines
  *   when keys are due by the clock
  */
private[spark] final case class PartitionMeta(
    keys: Long,
    byEnd: Long,
    byClock: Long,
    closed: Long,
    watermark: Long,
    rules: String,
    ends: TimerHistogram = new TimerHistogram,
    deadlines: TimerHistogram = new TimerHistogram
)
