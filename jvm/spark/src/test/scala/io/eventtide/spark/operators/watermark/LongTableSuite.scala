package io.eventtide.spark.operators.watermark

import org.scalatest.funsuite.AnyFunSuite

class LongTableSuite extends AnyFunSuite {
  test("a key that was not added is not found") {
    assert(new LongTable[String].find(0L) == null)
  }

  test("keys from the whole range are found after the table has grown") {
    val keys = Seq(Long.MinValue, -1L, 0L, Long.MaxValue) ++ (1L to 1000L).map(_ * 64)
    val table = new LongTable[String]
    keys.foreach(key => table.add(key, key.toString))
    keys.foreach(key => assert(table.find(key) == key.toString))
    assert(table.find(63L) == null)
  }

  for ((what, step) <- Seq("lower" -> 1L, "middle" -> (1L << 20), "upper" -> (1L << 50)))
    test(s"keys that differ in their $what bits only are spread over the table") {
      val slots = (0 until 1000).map(i => LongTable.hash(i * step, 64 - 11))
      assert(slots.distinct.size > 600) // 1,000 of 2,048 at random: about 790
    }
}
