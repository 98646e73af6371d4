package io.eventtide.spark.operators.window

import scala.collection.mutable
import scala.util.Random

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{UnsafeProjection, UnsafeRow}
import org.apache.spark.sql.types.{DataType, LongType}
import org.scalatest.funsuite.AnyFunSuite

import io.eventtide.spark.spi.NextTimer

/** Compares `GroupDeadlines` with a map that is searched. */
class GroupDeadlinesSuite extends AnyFunSuite {
  private val project = UnsafeProjection.create(Array[DataType](LongType))

  private def group(id: Long): UnsafeRow = project(InternalRow(id))

  test("the first deadline is that of a map, and its group has it") {
    for (seed <- 1 to 20) {
      val random = new Random(seed)
      val known = mutable.Map.empty[Long, Long]
      val deadlines = new GroupDeadlines
      for (_ <- 1 to 2000) {
        val id = random.nextInt(30).toLong
        if (random.nextInt(5) == 0) {
          known.remove(id): Unit
          deadlines.set(group(id), NextTimer.Never)
        } else {
          val at = random.nextInt(1000).toLong
          known(id) = at
          deadlines.set(group(id), at)
        }
        if (random.nextInt(3) == 0) {
          val first = known.values.minOption.getOrElse(NextTimer.Never)
          assert(deadlines.first == first)
          if (known.nonEmpty) assert(known(deadlines.group.getLong(0)) == first)
        }
      }
    }
  }
}
