package io.eventtide.kernel.window

import java.io.{DataInputStream, DataOutputStream, InputStream, OutputStream}

import io.eventtide.kernel.watermark.{MonotonicMax, PolicySpec, WatermarkPolicy}

/** The watermark of one key at a time, before a batch and after it.
  *
  *   - '''Guarantee:''' rows of a batch are late by what was before it; it never goes back.
  *   - '''Units:''' those of the rows' times; the clock's, where the policy compares them, are the same.
  *   - '''Restart:''' `write` and `read` keep all of it.
  */
trait KeyWatermark {

  /** Whether keys have it together, so that one may move without rows of its own. */
  def isShared: Boolean

  /** Begins a key that has no state. */
  def begin(): Unit

  /** What it is now; None while there is none. */
  def watermark: Option[Long]

  /** Rows of these times, and none beyond them, were not late. */
  def accept(lowest: Long, highest: Long): Unit

  /** Rows of these times were late. */
  def refuse(lowest: Long, highest: Long): Unit

  /** The batch has no more rows for the key, and the clock shows `now`. */
  def advance(now: Long): Unit

  /** The first clock value at which, without rows, it is at `target`; `WindowSet.Never` if
    * it never is.
    */
  def dueAt(target: Long): Long

  def write(out: ByteSink): Unit

  def read(in: ByteSource): Unit
}

/** A watermark that keys share: before and after a batch, as the caller says. */
final class SharedWatermark extends KeyWatermark {
  private var before = Option.empty[Long]
  private var after = Option.empty[Long]
  private var current = Option.empty[Long]

  /** Says what it is for the keys that are turned to from here on. */
  def set(before: Option[Long], after: Option[Long]): Unit = {
    this.before = before
    this.after = after
  }

  def isShared: Boolean = true
  def begin(): Unit = current = before
  def watermark: Option[Long] = current
  def accept(lowest: Long, highest: Long): Unit = ()
  def refuse(lowest: Long, highest: Long): Unit = ()
  def advance(now: Long): Unit = current = after
  def dueAt(target: Long): Long = WindowSet.Never
  def write(out: ByteSink): Unit = ()
  def read(in: ByteSource): Unit = begin()
}

/** A policy for each key, that moves once a batch by the rows of its key: by those that were not late,
  * or by all if the policy says so.
  *
  *   - '''Guarantee:''' after a batch with rows it is not above the highest of them, wherever the clock
  *     would have it.
  *   - '''Source:''' VoltSP's watermark by key.
  *
  * @param credited whether the time that passes counts, where the policy goes by the clock
  * @param latest rows after it count as of that time
  */
final class PerKeyWatermark(spec: PolicySpec, credited: Boolean, latest: Long = Long.MaxValue)
    extends KeyWatermark {
  private var policy: WatermarkPolicy = spec.create()
  private val isCapped = spec.movesWithClock // only such a policy can be above its rows
  private val usesLate = spec.usesLate
  private var capped = new MonotonicMax
  private var highest = Long.MinValue
  private var lowest = Long.MaxValue

  def isShared: Boolean = false

  def begin(): Unit = {
    policy = spec.create()
    if (isCapped) capped = new MonotonicMax
    forget()
  }

  private def forget(): Unit = {
    highest = Long.MinValue
    lowest = Long.MaxValue
  }

  def watermark: Option[Long] =
    if (isCapped) Option.when(capped.known)(capped.value)
    else Option.when(policy.known)(policy.watermark)

  def accept(lowest: Long, highest: Long): Unit = {
    this.highest = math.max(this.highest, math.min(highest, latest))
    this.lowest = math.min(this.lowest, math.min(lowest, latest))
  }

  def refuse(lowest: Long, highest: Long): Unit = if (usesLate) accept(lowest, highest)

  def advance(now: Long): Unit = {
    if (!credited) policy.skip(now)
    val hasRows = lowest <= highest
    if (hasRows) policy.observe(now, highest, lowest)
    else if (credited) policy.tick(now)
    if (isCapped && policy.known)
      capped.raise(math.min(policy.watermark, if (hasRows) highest else Long.MaxValue)): Unit
    forget()
  }

  def dueAt(target: Long): Long = policy.dueAt(target)

  private val bytes = new SavedBytes

  def write(out: ByteSink): Unit = {
    policy.save(bytes.into(out))
    if (isCapped) capped.save(bytes.into(out))
  }

  def read(in: ByteSource): Unit = {
    begin()
    policy.restore(bytes.from(in))
    if (isCapped) capped.restore(bytes.from(in))
  }
}

/** The records of keys as the streams that policies are saved to. */
private final class SavedBytes {
  private var sink: ByteSink = _
  private var source: ByteSource = _

  private val out = new DataOutputStream(new OutputStream {
    override def write(byte: Int): Unit = sink.putByte(byte)
  })

  private val in = new DataInputStream(new InputStream {
    override def read(): Int = source.getByte()
  })

  def into(sink: ByteSink): DataOutputStream = {
    this.sink = sink
    out
  }

  def from(source: ByteSource): DataInputStream = {
    this.source = source
    in
  }
}
