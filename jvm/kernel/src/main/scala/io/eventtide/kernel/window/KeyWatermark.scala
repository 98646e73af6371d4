package io.eventtide.kernel.window

import java.io.{DataInputStream, DataOutputStream, InputStream, OutputStream}

import io.eventtide.kernel.watermark.{MonotonicMax, PolicySpec, WatermarkPolicy}

/** The watermark of the current key, before and after a batch.
  *
  *   - '''Guarantee:''' the watermark before a batch decides which of its rows are late. It is
  *     monotonic.
  *   - '''Units:''' the unit of the rows' times; also the unit of the clock, if the policy compares
  *     the two.
  *   - '''Restart:''' `write` and `read` keep all state.
  */
trait KeyWatermark {

  /** Whether keys share the watermark, so that it can advance without rows of the current key. */
  def isShared: Boolean

  /** Begins a key without state. */
  def begin(): Unit

  /** The current watermark; None before the first one. */
  def watermark: Option[Long]

  /** The highest time of the rows before the batch; `Long.MinValue` if there is none, or if it is not
    * kept.
    */
  def reached: Long

  /** Records rows that are not late, with times from `lowest` to `highest`. */
  def accept(lowest: Long, highest: Long): Unit

  /** Records late rows, with times from `lowest` to `highest`. */
  def refuse(lowest: Long, highest: Long): Unit

  /** Ends the key's batch at clock value `now`. */
  def advance(now: Long): Unit

  /** The first clock value at which the watermark reaches `target` without rows;
    * `WindowSet.Never` if it does not.
    */
  def dueAt(target: Long): Long

  def write(out: ByteSink): Unit

  def read(in: ByteSource): Unit
}

/** A watermark that keys share; the caller sets its values before and after a batch. */
final class SharedWatermark extends KeyWatermark {
  private var before = Option.empty[Long]
  private var after = Option.empty[Long]
  private var current = Option.empty[Long]

  /** Sets the watermark for all keys that are begun or read from now on. */
  def set(before: Option[Long], after: Option[Long]): Unit = {
    this.before = before
    this.after = after
  }

  def isShared: Boolean = true
  def begin(): Unit = current = before
  def watermark: Option[Long] = current
  def reached: Long = Long.MinValue
  def accept(lowest: Long, highest: Long): Unit = ()
  def refuse(lowest: Long, highest: Long): Unit = ()
  def advance(now: Long): Unit = current = after
  def dueAt(target: Long): Long = WindowSet.Never
  def write(out: ByteSink): Unit = ()
  def read(in: ByteSource): Unit = begin()
}

/** A watermark per key, whose policy observes the rows of the key once per batch: the rows that are
  * not late, or all rows if the policy uses late rows.
  *
  *   - '''Guarantee:''' a batch with rows does not raise the watermark above its highest row, even
  *     if the policy's clock is ahead.
  *   - '''Source:''' VoltSP's watermark by key.
  *
  * @param credited whether elapsed time counts, if the policy uses the clock
  * @param latest upper limit of row times; a later row counts as this time
  * @param lag the lag that a late target has learnt for all keys; a key takes it with its next rows
  */
final class PerKeyWatermark(
    spec: PolicySpec,
    credited: => Boolean,
    latest: => Long = Long.MaxValue,
    lag: Option[Long] = None
) extends KeyWatermark {
  private var policy: WatermarkPolicy = spec.create()
  private val isCapped = spec.movesWithClock // only such a policy can be ahead of its rows
  private val usesLate = spec.usesLate
  private val learns = spec.lateTarget.isDefined
  private var capped = new MonotonicMax
  private var current = Option.empty[Long]
  private var highest = Long.MinValue
  private var lowest = Long.MaxValue
  private var top = Long.MinValue // only if the policy has a late target

  def isShared: Boolean = false

  def begin(): Unit = {
    beginPolicy()
    current = found
  }

  private def beginPolicy(): Unit = {
    policy = spec.create()
    if (isCapped) capped = new MonotonicMax
    top = Long.MinValue
    forget()
  }

  private def forget(): Unit = {
    highest = Long.MinValue
    lowest = Long.MaxValue
  }

  def watermark: Option[Long] = current

  def reached: Long = top

  private def found: Option[Long] =
    if (isCapped) Option.when(capped.known)(capped.value)
    else Option.when(policy.known)(policy.watermark)

  def accept(lowest: Long, highest: Long): Unit = {
    val limit = latest
    this.highest = math.max(this.highest, math.min(highest, limit))
    this.lowest = math.min(this.lowest, math.min(lowest, limit))
  }

  def refuse(lowest: Long, highest: Long): Unit = if (usesLate) accept(lowest, highest)

  def advance(now: Long): Unit = {
    if (!credited) policy.skip(now)
    val hasRows = lowest <= highest
    if (hasRows) observe(now)
    else if (credited) policy.tick(now)
    if (isCapped && policy.known)
      capped.raise(math.min(policy.watermark, if (hasRows) highest else Long.MaxValue)): Unit
    current = found
    forget()
  }

  private def observe(now: Long): Unit = {
    lag.foreach(policy.learn)
    policy.observe(now, highest, lowest)
    if (learns) top = math.max(top, highest)
  }

  def dueAt(target: Long): Long = policy.dueAt(target)

  private val bytes = new SavedBytes

  def write(out: ByteSink): Unit = {
    policy.save(bytes.into(out))
    if (isCapped) capped.save(bytes.into(out))
    if (learns) out.putNumber(top)
  }

  def read(in: ByteSource): Unit = {
    beginPolicy()
    policy.restore(bytes.from(in))
    if (isCapped) capped.restore(bytes.from(in))
    if (learns) top = in.getNumber()
    current = found
  }
}

/** Adapts the records of keys to the data streams that policies are saved to and restored from. */
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
