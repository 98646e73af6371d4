package io.eventtide.spark.storm

import java.nio.{ByteBuffer, ByteOrder}

import scala.collection.mutable

/** Row numbers, as ascending half-open ranges that neither overlap nor touch. */
private[storm] final class RowRanges private (val bounds: Seq[Int]) {

  /** Each range, as its first number and its exclusive end. */
  def pairs: Iterator[(Int, Int)] = bounds.grouped(2).map(pair => pair.head -> pair.last)

  /** These numbers without the numbers of `others`. */
  def without(others: RowRanges): RowRanges = {
    val left = mutable.ArrayBuffer.empty[Int]
    val taken = others.pairs.toArray
    var at = 0
    for ((since, until) <- pairs) {
      while (at < taken.length && taken(at)._2 <= since) at += 1
      var begin = since
      var look = at
      while (look < taken.length && taken(look)._1 < until) {
        if (taken(look)._1 > begin) left ++= Seq(begin, taken(look)._1)
        begin = math.max(begin, taken(look)._2)
        look += 1
      }
      if (begin < until) left ++= Seq(begin, until)
    }
    new RowRanges(left.toSeq)
  }

  /** The lowest number, or the largest number there is. */
  def lowest: Int = bounds.headOption.getOrElse(Int.MaxValue)
}

private[storm] object RowRanges {
  val Empty: RowRanges = new RowRanges(Nil)

  def apply(bounds: Int*): RowRanges = new RowRanges(bounds)

  /** Reads four little-endian bytes per number. */
  def read(bytes: Array[Byte]): RowRanges = {
    val numbers = ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN).asIntBuffer
    new RowRanges(Seq.fill(numbers.remaining)(numbers.get))
  }
}
