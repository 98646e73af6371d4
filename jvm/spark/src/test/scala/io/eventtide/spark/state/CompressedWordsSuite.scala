package io.eventtide.spark.state

import org.apache.spark.unsafe.Platform
import org.scalacheck.Gen
import org.scalatest.funsuite.AnyFunSuite
import org.scalatestplus.scalacheck.ScalaCheckPropertyChecks

import io.eventtide.kernel.window.{ByteSink, ByteSource}

/** Words come back as they were, and zeros at their ends take no bytes. */
final class CompressedWordsSuite extends AnyFunSuite with ScalaCheckPropertyChecks {

  private val words = Gen.listOf(
    Gen.oneOf(
      Gen.long,
      Gen.choose(-300L, 300L),
      Gen.choose(0, 63).map(1L << _),
      Gen.choose(0, 63).map(-1L << _),
      Gen.choose(0, 4096).map(n => java.lang.Double.doubleToLongBits(n / 4.0))
    )
  )

  test("any words come back, wherever they begin, and whatever follows them") {
    forAll(words, Gen.choose(0, 9), Gen.choose(0, 9)) { (all, before, after) =>
      val out = new ByteSink(initial = 1)
      out.reserve(before): Unit
      write(all, out)
      val end = out.position
      out.reserve(after): Unit
      val in = new ByteSource
      in.reset(java.util.Arrays.copyOf(out.bytes, out.position), 0)
      in.skip(before): Unit
      assert(read(all.length, in) == all)
      assert(in.position == end)
    }
  }

  private val lengths = Seq(
    Nil -> 0,
    Seq(0L) -> 1,
    Seq(0L, 0L) -> 1,
    Seq(5L) -> 2,
    Seq(0L, 5L, bits(2.25), bits(0.1)) -> (2 + 0 + 1 + 2 + 8),
    Seq(255L, 256L) -> 4,
    Seq(-1L, Long.MinValue) -> 10
  )

  for ((all, length) <- lengths) test(s"$all takes $length bytes") {
    val out = new ByteSink
    write(all, out)
    assert(out.position == length)
  }

  private def bits(value: Double) = java.lang.Double.doubleToLongBits(value)

  private def write(words: Seq[Long], out: ByteSink): Unit =
    CompressedWords.write(words.toArray, Platform.LONG_ARRAY_OFFSET.toLong, words.length, out)

  private def read(count: Int, in: ByteSource): Seq[Long] = {
    val words = new Array[Long](count)
    CompressedWords.read(in, words, Platform.LONG_ARRAY_OFFSET.toLong, count)
    words.toSeq
  }
}
