package io.eventtide.kernel.window

import org.scalatest.funsuite.AnyFunSuite

import io.eventtide.kernel.RecordTooLarge

/** The limit of a sink; what is written and read is in the laws of what uses it. */
final class ByteSinkSuite extends AnyFunSuite {
  private def sink = new ByteSink(initial = 16, limit = 40)

  test("bytes up to the limit are taken, and one more is refused") {
    val full = sink
    (1 to 40).foreach(full.putByte)
    assert(full.bytes.toSeq == (1 to 40).map(_.toByte))
    assert(intercept[RecordTooLarge](full.putByte(41)).limit == 40)
  }

  test("a position that would be beyond the range of an array is refused by the same name") {
    val full = sink
    full.putByte(1)
    intercept[RecordTooLarge](full.reserve(Int.MaxValue))
    assert(full.position == 1)
  }

  test("a number is as long as is asked for, or a multiple of eight bytes longer") {
    for {
      number <- Seq(0L, 1L, -1L, 63L, 64L, 1L << 32, -(1L << 40), Long.MaxValue, Long.MinValue)
      length <- 1 to 12
    } {
      val out = new ByteSink
      out.putNumber(number, length)
      assert(Set(0, 8, 16).contains(out.position - length))
      out.putByte(7)
      val in = new ByteSource
      in.reset(out.bytes, 0)
      assert(in.getNumber() == number && in.getByte() == 7)
    }
  }

  test("a sink that has refused begins anew") {
    val again = sink
    intercept[RecordTooLarge](again.reserve(41))
    again.reset(0)
    assert(again.reserve(40) == 0)
  }
}
