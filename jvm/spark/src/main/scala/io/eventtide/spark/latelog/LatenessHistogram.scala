package io.eventtide.spark.latelog

import scala.collection.immutable.SortedMap
import scala.collection.mutable

/** A histogram of the lateness of rows, with eight buckets per power of two.
  *
  *   - '''Units:''' microseconds behind the watermark that the row was compared with.
  *   - '''Edges:''' a reported lateness is at most one eighth too long, and never too short.
  */
private[spark] final case class LatenessHistogram(steps: SortedMap[Int, Long]) {

  def ++(other: LatenessHistogram): LatenessHistogram = LatenessHistogram(
    other.steps.foldLeft(steps) { case (sum, (step, rows)) =>
      sum.updated(step, sum.getOrElse(step, 0L) + rows)
    }
  )

  /** The shortest lateness that the fraction `part` of the rows does not exceed; None without rows.
    */
  def atMost(part: Double): Option[Long] = {
    val wanted = math.ceil(steps.valuesIterator.sum * part).toLong
    val upTo = steps.keysIterator.zip(steps.valuesIterator.scanLeft(0L)(_ + _).drop(1))
    upTo.collectFirst { case (step, rows) if rows >= wanted => LatenessHistogram.longest(step) }
  }
}

/** Counts the lateness of the rows of one task. */
private[spark] final class LatenessHistogramBuilder {
  private val steps = mutable.HashMap.empty[Int, Long].withDefaultValue(0L)

  def add(micros: Long): Unit = steps(LatenessHistogram.stepOf(micros)) += 1

  def counted: LatenessHistogram = LatenessHistogram(steps.to(SortedMap))
}

private[spark] object LatenessHistogram {
  val None: LatenessHistogram = LatenessHistogram(SortedMap.empty[Int, Long])

  private val Bits = 3 // the mantissa bits below the highest bit

  private[latelog] def stepOf(micros: Long): Int = {
    val length = math.max(1L, micros)
    val power = 63 - java.lang.Long.numberOfLeadingZeros(length)
    val below = if (power >= Bits) length >> (power - Bits) else length << (Bits - power)
    (power << Bits) | (below.toInt & ((1 << Bits) - 1))
  }

  private def longest(step: Int): Long = {
    val power = step >> Bits
    val next = (1L << Bits) + (step & ((1 << Bits) - 1)) + 1
    if (power >= 62) Long.MaxValue
    else if (power >= Bits) (next << (power - Bits)) - 1
    else math.max(1L, ((next - 1) << power) >> Bits)
  }
}
