package io.eventtide.kernel.completeness

import java.io.{DataInput, DataOutput}

import io.eventtide.kernel.{StateVersion, Varint}

/** Corrects expected shares by what became of the windows for which the same was expected.
  *
  * The odds of a row to be missing are cut into steps, two an octave. The share of a step is that of
  * the rows that its windows missed, drawn towards the expected one by the weight of 100 rows.
  *
  *   - '''Edges:''' a share that is not a number has no step, and stays.
  *   - '''Restart:''' format 1: the rows of each step that has any.
  *   - '''Source:''' histogram binning: Zadrozny and Elkan, "Obtaining calibrated probability
  *     estimates from decision trees and naive Bayesian classifiers", 2001.
  */
private[completeness] final class ShareCalibration extends Serializable {
  import ShareCalibration._

  private val had = new Array[Long](Steps)
  private val missed = new Array[Long](Steps)

  /** The share that is missing, where `expected` is by the disorder of rows. */
  def corrected(expected: Double): Double = stepOf(expected) match {
    case Unknown => expected
    case step => (missed(step) + Weight * expected) / (had(step) + missed(step) + Weight)
  }

  /** Takes the rows of a window when it closes. */
  def close(step: Int, rows: Long): Unit = if (step != Unknown) had(step) += rows

  /** Takes rows that a window has missed. */
  def miss(step: Int, rows: Long): Unit = if (step != Unknown) missed(step) += rows

  /** Lets the rows so far count half. */
  def halve(): Unit = (0 until Steps).foreach { step =>
    had(step) >>= 1
    missed(step) >>= 1
  }

  def copied: ShareCalibration = {
    val copy = new ShareCalibration
    had.copyToArray(copy.had): Unit
    missed.copyToArray(copy.missed): Unit
    copy
  }

  def save(out: DataOutput): Unit = {
    StateVersion.write(out, Version)
    val used = (0 until Steps).filter(step => had(step) > 0 || missed(step) > 0)
    out.writeByte(used.length)
    used.foreach { step =>
      out.writeByte(step)
      Varint.write(out, had(step))
      Varint.write(out, missed(step))
    }
  }

  /** Restores a record in place of the present state. */
  def restore(in: DataInput): Unit = {
    StateVersion.read(in, "calibration of shares", Version)
    Seq(had, missed).foreach(java.util.Arrays.fill(_, 0L))
    (0 until in.readUnsignedByte()).foreach { _ =>
      val step = in.readUnsignedByte()
      had(step) = Varint.read(in)
      missed(step) = Varint.read(in)
    }
  }
}

private[completeness] object ShareCalibration {
  private val Version = 1
  private val Weight = 100.0
  private val Octaves = 20 // from a millionth to all but a millionth
  private val Steps = 4 * Octaves + 1

  /** The step of a share that is not known. */
  val Unknown: Int = -1

  /** The step of a share that is missing. */
  def stepOf(missing: Double): Int =
    if (missing.isNaN) Unknown
    else {
      val octaves = math.log(missing / (1 - missing)) / math.log(2)
      math.round(2 * math.max(-Octaves, math.min(octaves, Octaves))).toInt + 2 * Octaves
    }
}
