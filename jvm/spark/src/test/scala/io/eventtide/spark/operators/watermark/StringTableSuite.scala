package io.eventtide.spark.operators.watermark

import org.apache.spark.unsafe.types.UTF8String
import org.scalatest.funsuite.AnyFunSuite

class StringTableSuite extends AnyFunSuite {
  private def text(value: String): UTF8String = UTF8String.fromString(value)

  test("a text that was not added is not found") {
    assert(new StringTable[String].find(text("a")) == null)
  }

  test("texts of every length up to two words and more are found after the table has grown") {
    val texts = (0 to 40).map("x" * _) ++ (0 until 1000).map(i => s"sensor-$i")
    val table = new StringTable[String]
    texts.foreach(value => table.add(text(value), value))
    texts.foreach(value => assert(table.find(text(value)) == value))
    assert(table.find(text("sensor-1000")) == null)
  }

  test("a text is copied, since the row that holds it is used again") {
    val bytes = "abc".getBytes
    val table = new StringTable[String]
    table.add(UTF8String.fromBytes(bytes), "abc")
    bytes(0) = 'z'
    assert(table.find(text("abc")) == "abc")
  }

  test("long texts that differ in the middle only are told apart") {
    val texts = Seq("a" * 30, "a" * 15 + "b" + "a" * 14, "a" * 31)
    val table = new StringTable[String]
    texts.foreach(value => table.add(text(value), value))
    texts.foreach(value => assert(table.find(text(value)) == value))
  }

  for (
    (what, text) <- Seq[(String, Int => String)](
      "at the end" -> (i => s"sensor-$i"),
      "at the start" -> (i => s"$i-sensor"),
      "in the middle" -> (i => s"s-$i-of-it"),
      "of one word" -> (i => f"s$i%04d")
    )
  )
    test(s"texts that differ $what only are spread over the table") {
      val slots = (0 until 1000).map(i => slot(UTF8String.fromString(text(i))))
      assert(slots.distinct.size > 600) // 1,000 of 2,048 at random: about 790
    }

  private def slot(text: UTF8String): Int =
    StringTable.spread(StringTable.first(text), StringTable.second(text), 64 - 11)
}
