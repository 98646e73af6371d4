package org.apache.spark.sql.eventtide

import org.scalatest.funsuite.AnyFunSuite

/** Offsets as JSON: what shows an order, and what does not. */
class OffsetOrderSuite extends AnyFunSuite {
  import OffsetOrder.hasReached

  test("numbers are reached, also in objects") {
    assert(hasReached("7", "7"))
    assert(hasReached("8", "7"))
    assert(!hasReached("6", "7"))
    assert(hasReached("""{"a":{"0":5,"1":9}}""", """{"a":{"0":5,"1":8}}"""))
    assert(!hasReached("""{"a":{"0":5,"1":7}}""", """{"a":{"0":5,"1":8}}"""))
    assert(!hasReached("""{"a":{"0":5}}""", """{"a":{"0":5,"1":8}}"""))
    assert(hasReached("""{"a":{"0":5,"1":1},"b":{"0":1}}""", """{"a":{"0":5}}"""))
  }

  test("other values have to be equal") {
    assert(hasReached("""{"shard":"49"}""", """{"shard":"49"}"""))
    assert(!hasReached("""{"shard":"50"}""", """{"shard":"49"}"""))
    assert(hasReached("not json", "not json"))
    assert(!hasReached("not json", "7"))
  }
}
