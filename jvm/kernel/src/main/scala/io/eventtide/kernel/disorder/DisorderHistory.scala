package io.eventtide.kernel.disorder

import java.io.DataInput
import java.io.DataOutput

import scala.collection.mutable.ArrayBuffer

import io.eventtide.kernel.StateVersion
import io.eventtide.kernel.Varint
import io.eventtide.kernel.time.Clamped

/** The disorder of an input: of its recent rows, of the last hour and of about a week.
  *
  *   - '''Guarantee:''' depends on the batches and their order only.
  *   - '''Units:''' `hour` is in the unit of the clock.
  *   - '''Edges:''' the last hour is the present one and the one before it. The week has the hours
  *     before these; its rows are halved every half a week. The clock never runs back.
  *   - '''Restart:''' format 1. `save` once as a whole, then any number of times with the batches
  *     since. A whole record has the memory, the recent rows, the rows since they were halved, the
  *     number of the present hour, the two hours, the week and the hours since the week was halved.
  *
  * @param memory number of rows after which earlier recent rows count half
  */
final class DisorderHistory(memory: Long, hour: Long) {
  import DisorderHistory._

  private val latest = new RecentDisorder(memory)
  private var presentHour = NoHour
  private var present = new DisorderHistogram
  private var previous = new DisorderHistogram
  private val earlier = new DisorderHistogram
  private var hoursOfWeek = 0L
  private var savedMemory = memory // of the run that saved the batches
  private val unsaved = ArrayBuffer.empty[(Long, DisorderHistogram)]

  /** The disorder of about the last `memory` rows; do not change it. */
  def recent: DisorderHistogram = latest.rows

  /** The disorder of the rows of the present hour and of the one before it. */
  def lastHour: DisorderHistogram = DisorderHistogram.sum(Seq(present, previous))

  /** The disorder of the rows of the week before the last hour; do not change it. */
  def week: DisorderHistogram = earlier

  /** Takes the disorder of the rows of a batch; `batch` must not change afterwards. */
  def observe(now: Long, batch: DisorderHistogram): Unit = if (batch.rows > 0) {
    unsaved += now -> batch
    add(now, batch, memory)
  }

  private def add(now: Long, batch: DisorderHistogram, memory: Long): Unit = {
    advance(Math.floorDiv(now, hour))
    present.merge(batch)
    latest.add(batch, memory): Unit
  }

  private def advance(to: Long): Unit = if (to > presentHour) {
    val passed = if (presentHour == NoHour) 0 else Clamped.subtract(to, presentHour)
    if (passed > 0) {
      earlier.merge(previous)
      if (passed > 1) earlier.merge(present)
      age(passed)
      val reused = previous
      previous = if (passed == 1) present else new DisorderHistogram
      present = reused
      present.clear()
    }
    presentHour = to
  }

  private def age(hours: Long): Unit = {
    hoursOfWeek = Clamped.add(hoursOfWeek, hours)
    while (hoursOfWeek >= HalfWeek && earlier.rows > 0) {
      earlier.halve()
      hoursOfWeek -= HalfWeek
    }
    hoursOfWeek %= HalfWeek
  }

  /** Saves the whole state, or the batches since the last save. */
  def save(out: DataOutput, whole: Boolean): Unit = {
    StateVersion.write(out, Version)
    out.writeBoolean(whole)
    if (whole) saveWhole(out)
    else {
      Varint.write(out, unsaved.length.toLong)
      unsaved.foreach { case (now, batch) =>
        out.writeLong(now)
        batch.save(out)
      }
    }
    unsaved.clear()
  }

  private def saveWhole(out: DataOutput): Unit = {
    out.writeLong(memory)
    latest.save(out)
    out.writeLong(presentHour)
    Seq(present, previous, earlier).foreach(_.save(out))
    out.writeLong(hoursOfWeek)
  }

  /** Restores a whole record in a new instance, or applies the batches of a later record. */
  def restore(in: DataInput): Unit = {
    StateVersion.read(in, "disorder history", Version)
    if (in.readBoolean()) restoreWhole(in)
    else
      (1L to Varint.read(in)).foreach { _ =>
        val now = in.readLong()
        val batch = new DisorderHistogram
        batch.restore(in)
        add(now, batch, savedMemory)
      }
  }

  private def restoreWhole(in: DataInput): Unit = {
    savedMemory = in.readLong()
    latest.restore(in)
    presentHour = in.readLong()
    Seq(present, previous, earlier).foreach(_.restore(in))
    hoursOfWeek = in.readLong()
  }
}

private object DisorderHistory {
  private val Version = 1
  private val NoHour = Long.MinValue
  private val HalfWeek = 84L
}
