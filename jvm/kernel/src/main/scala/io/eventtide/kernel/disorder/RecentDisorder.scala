package io.eventtide.kernel.disorder

import java.io.DataInput
import java.io.DataOutput

/** The disorder of about the last `memory` rows. Earlier rows count half after `memory` rows, and once
  * a batch at most: of a batch with several times the memory, a part would be the whole.
  */
final class RecentDisorder(memory: Long) {
  private val recent = new DisorderHistogram
  private var since = 0L // the rows since they were halved

  /** Do not change it. */
  def rows: DisorderHistogram = recent

  /** Takes the rows of a batch; true if earlier rows now count half. */
  def add(batch: DisorderHistogram): Boolean = add(batch, memory)

  /** As `add`, under the memory of another run. */
  private[disorder] def add(batch: DisorderHistogram, memory: Long): Boolean = {
    recent.merge(batch)
    since += batch.rows
    val isFull = since >= memory
    if (isFull) {
      recent.halve()
      since = 0
    }
    isFull
  }

  def save(out: DataOutput): Unit = {
    recent.save(out)
    out.writeLong(since)
  }

  def restore(in: DataInput): Unit = {
    recent.restore(in)
    since = in.readLong()
  }
}
