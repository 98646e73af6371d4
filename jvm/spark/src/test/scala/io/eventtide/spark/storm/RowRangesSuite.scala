package io.eventtide.spark.storm

import org.apache.spark.sql.Row
import org.scalatest.funsuite.AnyFunSuite

class RowRangesSuite extends AnyFunSuite {
  test("ranges without others keep the numbers between them") {
    def left(bounds: Int*)(others: Int*) =
      RowRanges(bounds: _*).without(RowRanges(others: _*)).bounds
    assert(left(0, 5, 8, 9)(1, 3) == Seq(0, 1, 3, 5, 8, 9))
    assert(left(0, 5)(0, 5) == Nil && left()(0, 5) == Nil && left(0, 5)() == Seq(0, 5))
    assert(left(0, 10)(2, 3, 5, 7) == Seq(0, 2, 3, 5, 7, 10))
    assert(left(4, 6, 8, 9)(0, 5, 8, 20) == Seq(5, 6))
  }

  test("ranges are read from little-endian bytes") {
    assert(RowRanges.read(Array[Byte](1, 0, 0, 0, 0, 1, 0, 0)).bounds == Seq(1, 256))
    assert(RowRanges.read(Array.empty).bounds == Nil)
  }

  test("held rows keep their numbers when earlier rows are released") {
    val held = new HeldRows
    held.add((0 until 10).map(Row(_)))
    held.forget(6)
    held.add(Seq(Row(10)))
    assert(held.take(RowRanges(6, 8, 10, 11)) == Seq(Row(6), Row(7), Row(10)))
    held.clear()
    held.add(Seq(Row("x")))
    assert(held.take(RowRanges(0, 1)) == Seq(Row("x")))
  }
}
