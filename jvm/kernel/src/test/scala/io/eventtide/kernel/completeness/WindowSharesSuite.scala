package io.eventtide.kernel.completeness

import java.io.{ByteArrayInputStream, ByteArrayOutputStream, ObjectInputStream, ObjectOutputStream}

import org.scalatest.funsuite.AnyFunSuite

import io.eventtide.kernel.disorder.DisorderHistogram

final class WindowSharesSuite extends AnyFunSuite {

  private val half = new DisorderHistogram // half of the rows are ten behind
  half.addInOrder(50)
  half.add(10, 50)

  test("all rows have come when the reached time is as far past the end as any row is behind") {
    assert(shares(half, reached = 30).of(0, 20) == 1.0)
    assert(shares(half, Long.MaxValue).of(0, 20) == 1.0)
  }

  test("at the end of a window, a row is missing if it is behind and in the last part") {
    assert(shares(half, reached = 20).of(0, 20) == 0.75)
    assert(shares(half, reached = 25).of(0, 20) == 0.875)
    assert(shares(half, reached = 5).of(0, 5) == 0.5)
  }

  test("nothing of a window has come before the reached time") {
    assert(shares(half, reached = 0).of(100, 120) == 0.0)
    assert(shares(half, Long.MinValue).of(100, 120) == 0.0)
  }

  test("without rows it is not a number") {
    assert(shares(new DisorderHistogram, 0).of(0, 20).isNaN)
  }

  test("it can be sent to tasks") {
    val bytes = new ByteArrayOutputStream
    new ObjectOutputStream(bytes).writeObject(shares(half, 20))
    val read = new ObjectInputStream(new ByteArrayInputStream(bytes.toByteArray)).readObject()
    assert(read.asInstanceOf[WindowShares].of(0, 20) == 0.75)
  }

  private def shares(recent: DisorderHistogram, reached: Long): WindowShares =
    new WindowShares(recent, new ShareCalibration, reached)
}
