package io.eventtide.spark.spi

import scala.util.Random

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{AttributeReference, UnsafeProjection, UnsafeRow}
import org.apache.spark.sql.types.IntegerType
import org.scalatest.funsuite.AnyFunSuite

/** The keys with the lowest watermarks, of those that were offered. */
final class LaggingKeysSuite extends AnyFunSuite {
  private val column = AttributeReference("key", IntegerType)()
  private val keyOf = UnsafeProjection.create(Seq(column), Seq(column))

  private def key(id: Int): UnsafeRow = keyOf(InternalRow(id))

  test("the lowest watermarks are kept, although the caller reuses the key's row") {
    val keys = new LaggingKeys(Seq(column), Nil)
    val reused = key(0).copy()
    new Random(7).shuffle((1 to 50).toList).foreach { id =>
      reused.copyFrom(key(id))
      keys.offer(reused, Some(100L + id), due = 500L + id)
    }
    assert(
      keys.result.map(one => (one.name, one.watermark, one.due)) == Seq(
        ("1", 101, 501),
        ("2", 102, 502),
        ("3", 103, 503)
      )
    )
    assert(keys.result.map(_.key.toSeq) == Seq(1, 2, 3).map(key(_).getBytes.toSeq))
  }

  test("a key that is offered again has its new values, and is left out without a watermark") {
    val keys = new LaggingKeys(Seq(column), Nil)
    for (id <- 1 to 4) keys.offer(key(id), Some(id.toLong), due = 9)
    keys.offer(key(2), Some(7L), due = 9)
    keys.offer(key(3), None, due = 9)
    assert(keys.result.map(_.name) == Seq("1", "2"))
    keys.offer(key(2), Some(8L), due = 10)
    assert(keys.result.map(one => one.name -> one.due) == Seq("1" -> 9, "2" -> 10))
  }

  test("a key without an open window does not lag") {
    val keys = new LaggingKeys(Seq(column), Nil)
    keys.offer(key(1), Some(1L), due = Long.MaxValue)
    assert(keys.result.isEmpty)
  }
}
