package io.eventtide.spark.latelog

import scala.collection.immutable.SortedMap

/** By how much rows were late: a histogram, whose steps are an eighth of a power of two.
  *
  *   - '''Units:''' microseconds behind the watermark that the row was judged by.
  *   - '''Edges:''' a length is at most an eighth too long, and never too short.
  */
private[spark] final case class LatenessHistogram private (steps: SortedMap[Int, Long]) {

  def ++(other: LatenessHistogram): LatenessHistogram = LatenessHistogram(
    other.steps.foldLeft(steps) { case (sum, (step, rows)) =>
      sum.updated(step, sum.getOrElse(step, 0L) + rows)
    }
  )

  /** The shortest length that so large a part of the rows were not later than; None without rows. */
  def atMost(part: Double): Option[Long] = {
    val wanted = math.ceil(steps.valuesIterator.sum * part).toLong
    val upTo = steps.keysIterator.zip(steps.valuesIterator.scanLeft(0L)(_ + _).drop(1))
    upTo.collectFirst { case (step, rows) if rows >= wanted => LatenessHistogram.longest(step) }
  }
}

/** Counts the rows of one task. */
private[spark] final class LatenessHistogramBuilder {
  private lazy val steps = new Array[Long](LatenessHistogram.stepOf(Long.MaxValue) + 1)
  private var any = false

  def add(micros: Long): Unit = {
    any = true
    steps(LatenessHistogram.stepOf(micros)) += 1
  }

  def counted: LatenessHistogram = if (any) LatenessHistogram.of(steps) else LatenessHistogram.None
}

private[spark] object LatenessHistogram {
  val None: LatenessHistogram = LatenessHistogram(SortedMap.empty[Int, Long])

  private val Bits = 3 // of a number, below its highest one

  private[latelog] def of(steps: Array[Long]): LatenessHistogram =
    LatenessHistogram(
      steps.indices.filter(steps(_) > 0).map(step => step -> steps(step)).to(SortedMap)
    )

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
