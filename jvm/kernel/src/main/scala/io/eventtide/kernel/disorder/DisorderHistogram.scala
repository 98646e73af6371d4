package io.eventtide.kernel.disorder

import java.io.DataInput
import java.io.DataOutput
import java.io.Externalizable
import java.io.ObjectInput
import java.io.ObjectOutput

import io.eventtide.kernel.StateVersion
import io.eventtide.kernel.Varint
import io.eventtide.kernel.time.Clamped

/** Counts rows by their disorder: how far a row is behind the time that event time had reached before
  * it. With a fixed lag, the rows whose disorder exceeds the lag are late.
  *
  *   - '''Guarantee:''' the order in which rows are added and histograms are merged does not matter.
  *     `add` allocates for the first row only.
  *   - '''Units:''' disorders are in the unit of event time. A step is at most an eighth of its lowest
  *     disorder wide; up to 16, each disorder has its own step.
  *   - '''Edges:''' a disorder of zero or less is counted as zero.
  *   - '''Restart:''' format 1: the highest disorder and the number of steps in use; for each step the
  *     distance from the previous one and its rows. Integers have a variable length.
  */
final class DisorderHistogram extends Externalizable {
  import DisorderHistogram._

  private var rowsOf = NoSteps // replaced by the first row: many tasks count no disorder
  private var highest = 0L

  /** The number of rows: the sum over all steps. */
  def rows: Long = {
    var sum = 0L
    var step = 0
    while (step < rowsOf.length) {
      sum += rowsOf(step)
      step += 1
    }
    sum
  }

  /** The highest disorder so far, exactly; rows that `halve` has removed count too. */
  def longest: Long = highest

  def add(disorder: Long): Unit = add(disorder, 1)

  /** Adds rows of the same disorder. */
  def add(disorder: Long, count: Long): Unit = {
    if (disorder > highest) highest = disorder
    if (rowsOf.length == 0) allocate()
    rowsOf(stepOf(disorder)) += count
  }

  /** Adds rows without disorder. */
  def addInOrder(count: Long): Unit = {
    if (rowsOf.length == 0) allocate()
    rowsOf(0) += count
  }

  private def allocate(): Unit = rowsOf = new Array[Long](Steps)

  def merge(other: DisorderHistogram): Unit = {
    if (rowsOf.length < other.rowsOf.length) allocate()
    var step = 0
    while (step < other.rowsOf.length) {
      rowsOf(step) += other.rowsOf(step)
      step += 1
    }
    highest = math.max(highest, other.highest)
  }

  /** A copy, which does not change with this one. */
  def copied: DisorderHistogram = DisorderHistogram.sum(Seq(this))

  /** Halves the rows of each step, rounded down, so that earlier rows count less than later ones. */
  def halve(): Unit = {
    var step = 0
    while (step < rowsOf.length) {
      rowsOf(step) >>= 1
      step += 1
    }
  }

  def clear(): Unit = {
    java.util.Arrays.fill(rowsOf, 0L)
    highest = 0
  }

  /** The lowest lag with which at most `most` rows are late, rounded up to the end of its step; zero
    * if that is enough.
    */
  def lagFor(most: Long): Long = {
    var step = rowsOf.length
    var late = 0L
    while (step > 0 && late + rowsOf(step - 1) <= most) {
      step -= 1
      late += rowsOf(step)
    }
    // The rows of `step` and above are at most `most`, so the lag is that of the step below.
    endOf(math.max(0, step - 1))
  }

  /** The share of the rows between two times that comes when event time has reached a later time or
    * after that, if the rows are spread evenly over the time between; not a number without rows.
    *
    * @param length the time between the two, more than zero
    * @param after the distance from the later one of the two to the time that is reached
    */
  def shareAfter(length: Long, after: Long): Double = {
    var missing = 0.0
    foreach { (disorder, count) =>
      val beyond = Clamped.subtract(disorder, after).toDouble / length
      missing += count * math.max(0.0, math.min(beyond, 1.0))
    }
    missing / rows
  }

  /** Visits the steps that have rows, from the lowest disorder to the highest one. */
  def foreach(visit: DisorderHistogram.Visitor): Unit = {
    var step = 0
    while (step < rowsOf.length) {
      if (rowsOf(step) > 0) visit(endOf(step), rowsOf(step))
      step += 1
    }
  }

  /** Another thread may add rows meanwhile. */
  def save(out: DataOutput): Unit = {
    val copied = rowsOf.clone()
    StateVersion.write(out, Version)
    Varint.write(out, highest)
    Varint.write(out, copied.count(_ > 0).toLong)
    var previous = 0
    var step = 0
    while (step < copied.length) {
      if (copied(step) > 0) {
        Varint.write(out, (step - previous).toLong)
        Varint.write(out, copied(step))
        previous = step
      }
      step += 1
    }
  }

  /** Restores what `save` wrote, in place of the present rows. */
  def restore(in: DataInput): Unit = {
    StateVersion.read(in, "disorder histogram", Version)
    clear()
    highest = Varint.read(in)
    var left = Varint.read(in)
    if (left > 0 && rowsOf.length == 0) allocate()
    var step = 0
    while (left > 0) {
      step += Varint.read(in).toInt
      rowsOf(step) = Varint.read(in)
      left -= 1
    }
  }

  // The last step of all ends at the highest disorder, and not above it.
  private def endOf(step: Int): Long =
    if (step == stepOf(highest)) highest else highestIn(step)

  override def writeExternal(out: ObjectOutput): Unit = save(out)

  override def readExternal(in: ObjectInput): Unit = restore(in)
}

object DisorderHistogram {
  private val Version = 1
  private val Bits = 3 // a power of two has 2^Bits steps
  private val Each = 1 << Bits
  private val NoSteps = Array.emptyLongArray
  private val Steps = ((63 - Bits) << Bits) + Each

  /** All rows of several histograms, as a new one. */
  def sum(parts: Iterable[DisorderHistogram]): DisorderHistogram = {
    val all = new DisorderHistogram
    parts.foreach(all.merge)
    all
  }

  /** Takes the highest disorder of a step, and the number of rows in the step. */
  trait Visitor {
    def apply(disorder: Long, rows: Long): Unit
  }

  /** The step of a disorder. Below 8 each disorder is a step; above, the three bits below the highest
    * one select one of eight steps in a power of two.
    */
  private def stepOf(disorder: Long): Int =
    if (disorder < Each) math.max(0L, disorder).toInt
    else {
      val shift = 63 - Bits - java.lang.Long.numberOfLeadingZeros(disorder)
      (shift << Bits) + (disorder >>> shift).toInt
    }

  /** The highest disorder of a step. */
  private def highestIn(step: Int): Long =
    if (step < 2 * Each) step.toLong
    else {
      val shift = (step >> Bits) - 1
      ((step - (shift << Bits) + 1).toLong << shift) - 1
    }
}
