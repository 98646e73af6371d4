package io.eventtide.kernel.disorder

import java.io.DataInput
import java.io.DataOutput

import io.eventtide.kernel.StateVersion
import io.eventtide.kernel.time.Clamped

/** What a `LateTarget` aims at.
  *
  * @param perMillion rows in a million that may be late; from 0 to a million
  * @param maxLag the highest lag
  * @param start the lag before there are rows, and the lowest lag while there are few
  * @param memory number of rows after which earlier rows count half
  * @param forgives whether the balance of late rows is halved with the memory; otherwise it is kept
  *   for ever
  */
final case class LateTargetSpec(
    perMillion: Long,
    maxLag: Long,
    start: Long,
    memory: Long,
    forgives: Boolean
)

/** Learns the lag with which a share of rows is late: a closed loop on the rows that were late.
  *
  *   - '''Guarantee:''' depends on the batches and their order only, not on the order of rows in a
  *     batch. All numbers are integers.
  *   - '''Units:''' the lag is in the unit of disorders.
  *   - '''Edges:''' until ten late rows are expected, the lag is the highest disorder so far, at least
  *     `start`. With a target of zero it stays so.
  *   - '''Restart:''' format 1: the histogram, the rows since it was halved, the number of rows, and the
  *     balance. The parameters may change.
  *   - '''Source:''' Eventtide. Adaptive conformal inference (Gibbs and Candes, 2021) corrects the level
  *     of a quantile by its misses in the same way.
  */
final class LateTarget(spec: LateTargetSpec) {
  import LateTarget._

  private val latest = new RecentDisorder(spec.memory)
  private var rows = 0L
  private var balance = 0L // late rows minus the rows that may be late, in millionths of a row
  private var learnt = math.min(spec.start, spec.maxLag)

  /** The lag for the next batch. */
  def lag: Long = learnt

  /** Takes the rows of a batch.
    *
    * @param batch the disorder of its rows
    * @param late the number of its rows that were late
    */
  def observe(batch: DisorderHistogram, late: Long): Unit = if (batch.rows > 0) {
    rows += batch.rows
    if (latest.add(batch) && spec.forgives) balance /= 2
    val more = Clamped.subtract(Clamped.multiply(late, Million), allowed(batch.rows))
    balance = math.max(-allowance, Clamped.add(balance, more))
    learn()
  }

  private def recent = latest.rows

  private def learn(): Unit = {
    val isEarly = allowed(rows) < FewLate * Million
    val wanted = if (isEarly) math.max(spec.start, recent.longest) else recent.lagFor(mostLate)
    learnt = math.min(wanted, spec.maxLag)
  }

  /** The number of rows of the memory that may be late: the target's share of them, corrected by the
    * balance in steps of a quarter of a power of two.
    */
  private def mostLate: Long = {
    val wanted = Math.floorDiv(Clamped.multiply(balance, Steps), allowance)
    val step = math.max(MoreLate, math.min(wanted, LessLate)) - MoreLate
    val power = BigInt(2 * QuarterPowers((step & 3).toInt)) // the first step is twice the share
    val late = BigInt(spec.perMillion) * recent.rows * power / Million
    (late >> PowerBits + (step >> 2).toInt).toLong
  }

  /** The balance at which the share of late rows is changed by `Steps`; the lowest balance is minus
    * this.
    */
  private def allowance: Long =
    math.max(LeastAllowance, allowed(math.min(rows, spec.memory)))

  // In millionths of a row.
  private def allowed(rows: Long): Long = Clamped.multiply(spec.perMillion, rows)

  def save(out: DataOutput): Unit = {
    StateVersion.write(out, Version)
    latest.save(out)
    out.writeLong(rows)
    out.writeLong(balance)
  }

  /** Restores what `save` wrote, possibly under other parameters; only for a new instance. */
  def restore(in: DataInput): Unit = {
    StateVersion.read(in, "late target", Version)
    latest.restore(in)
    rows = in.readLong()
    balance = in.readLong()
    if (rows > 0) learn()
  }
}

private object LateTarget {
  private val Version = 1
  private val Million = 1000000L
  private val FewLate = 10L
  private val LeastAllowance = 5 * Million

  private val Steps = 16L
  private val MoreLate = -4L // twice the target's share
  private val LessLate = 64L // practically none

  private val PowerBits = 11

  /** Two to the power of 0, -1/4, -2/4 and -3/4, in units of 2^-11. */
  private val QuarterPowers = Array(2048L, 1722L, 1448L, 1218L)
}
