package io.eventtide.spark.query.run

import org.scalatest.funsuite.AnyFunSuite

import io.eventtide.kernel.watermark.Backlog._

final class PartitionBacklogsSuite extends AnyFunSuite {
  import PartitionBacklogs.between

  test("a partition whose latest offset is above what was read has a backlog") {
    val found =
      between("""{"a":{"0":5,"1":7},"b":{"0":0}}""", """{"a":{"0":5,"1":8},"b":{"0":0}}""")
    assert(found == Map("a/0" -> Empty, "a/1" -> Pending, "b/0" -> Empty))
  }

  test("a new partition waits if it has rows, and one that is gone is not there") {
    assert(between("""{"a":{"0":5}}""", """{"a":{"1":1}}""") == Map("a/1" -> Pending))
    assert(between("{}", """{"a":{"0":0}}""") == Map("a/0" -> Empty))
  }

  test("a topic that was deleted and made again begins below what was read") {
    assert(between("""{"a":{"0":5}}""", """{"a":{"0":2}}""") == Map("a/0" -> Empty))
  }

  test("partitions have the names of their substreams") {
    assert(between("{}", """{"a/b\\c":{"12":1}}""").keySet == Set("a\\/b\\\\c/12"))
  }
}
