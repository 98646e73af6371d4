package org.apache.spark.sql.eventtide

import org.apache.spark.SparkConf
import org.apache.spark.memory.{MemoryConsumer, MemoryMode, TaskMemoryManager, UnifiedMemoryManager}
import org.scalatest.funsuite.AnyFunSuite

/** What a task takes of its memory, and what it leaves to others. */
final class TaskMemorySuite extends AnyFunSuite {
  private val Page = 1L << 20

  private def manager: TaskMemoryManager = {
    val conf = new SparkConf(loadDefaults = false)
      .set("spark.testing.memory", (100 * Page).toString)
      .set("spark.testing.reservedMemory", "0")
      .set("spark.buffer.pageSize", Page.toString)
    new TaskMemoryManager(UnifiedMemoryManager(conf, numCores = 1), 0)
  }

  test("whoever comes after it was refused memory gets the first pages") {
    val task = manager
    val memory = new TaskMemory(task)
    while (memory.reserve(Page)) ()
    assert(memory.getUsed > 50 * Page)
    val other = new MemoryConsumer(task, MemoryMode.ON_HEAP) {
      override def spill(size: Long, trigger: MemoryConsumer): Long = 0
    }
    assert(other.acquireMemory(2 * Page) == 2 * Page)
  }

  test("what is refused is not kept") {
    val memory = new TaskMemory(manager)
    assert(!memory.reserve(1000 * Page))
    assert(memory.getUsed == 0)
    assert(memory.reserve(Page))
    assert(memory.getUsed == Page)
  }
}
