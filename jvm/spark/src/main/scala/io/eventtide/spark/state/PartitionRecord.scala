package io.eventtide.spark.state

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.UnsafeProjection
import org.apache.spark.sql.execution.streaming.state.StateStore

import io.eventtide.kernel.window.{ByteSink, ByteSource, Silence}

/** What a partition of state remembers of itself: one row in a family of its own.
  *
  * Spark's store can count its rows too, but then it reads each before it writes it.
  */
private[state] final class PartitionRecord(store: StateStore, families: FrameFamilies) {
  private val key = UnsafeProjection.create(families.partitionKeys).apply(InternalRow(0L))

  /** What the batch before has left; None in a partition that is new. */
  def read(): Option[PartitionFacts] =
    Option(store.get(key, FrameFamilies.Partition)).map { value =>
      val in = new ByteSource
      ByteRow.open(value, in)
      FrameStore.checkVersion(in.getByte())
      val facts = PartitionFacts(
        in.getCount(),
        in.getNumber(),
        in.getNumber(),
        in.getNumber(),
        in.getNumber(),
        readSilence(in)
      )
      facts.ends.read(in)
      facts.deadlines.read(in)
      facts
    }

  def write(facts: PartitionFacts): Unit = {
    val values = new ByteRow
    val out = values.begin()
    out.putByte(FrameStore.Version)
    out.putCount(facts.keys)
    out.putNumber(facts.byEnd)
    out.putNumber(facts.byClock)
    out.putNumber(facts.closed)
    out.putNumber(facts.watermark)
    writeSilence(facts.silence, out)
    facts.ends.write(out)
    facts.deadlines.write(out)
    store.put(key, values.end(), FrameFamilies.Partition)
  }

  private def writeSilence(silence: Option[Silence], out: ByteSink): Unit = {
    out.putByte(silence.fold(0)(of => if (of.byEvents) 2 else 1))
    silence.foreach { of =>
      out.putCount(of.timeout.getOrElse(0))
      out.putCount(of.keep)
    }
  }

  private def readSilence(in: ByteSource): Option[Silence] = in.getByte() match {
    case 0 => None
    case kind => Some(Silence(Some(in.getCount()).filter(_ > 0), in.getCount(), kind == 2))
  }
}

/** @param keys
  *   how many there are
  * @param byEnd
  *   the first number of the index by end; `FrameRing.Never` if it is empty
  * @param byClock
  *   the same of the index by time
  * @param closed
  *   windows that end at this boundary or before have been given
  * @param watermark
  *   the highest that a key has ever had of its own; `Long.MinValue` for none
  * @param silence
  *   by which keys are due since they are silent; None where they have no time of their own
  * @param ends
  *   by which ends keys are due, where their rows come one by one
  * @param deadlines
  *   when keys are due by the clock
  */
private[spark] final case class PartitionFacts(
    keys: Long,
    byEnd: Long,
    byClock: Long,
    closed: Long,
    watermark: Long,
    silence: Option[Silence],
    ends: DueCounts = new DueCounts,
    deadlines: DueCounts = new DueCounts
)
