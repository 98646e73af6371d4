package io.eventtide.spark.operators

import org.apache.spark.SparkEnv
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{Attribute, AttributeReference, UnsafeProjection}
import org.apache.spark.sql.types.{DataType, IntegerType, LongType, StringType}
import org.apache.spark.unsafe.types.UTF8String
import org.scalatest.funsuite.AnyFunSuite
import org.scalatest.tags.Slow

import io.eventtide.spark.LocalSession

@Slow
final class ArrivalSortSuite extends AnyFunSuite with LocalSession {
  import ArrivalSortSuite._

  // Each task's rows in order; the tasks in blocks, not in order.
  private val inBlocks =
    Seq(2, 0, 3, 1).flatMap(task => (0 until 500).map(row => Row((row * 7 + task) % 11, task, row)))

  private def sorted(rows: Seq[Row], keys: DataType): Seq[Row] = {
    val one = spark.sparkContext.parallelize(Seq(0), 1)
    one.mapPartitions(_ => sortedInTask(rows, keys)).collect().toSeq
  }

  private def spilling[A](body: => A): A = {
    val threshold = "spark.shuffle.spill.numElementsForceSpillThreshold"
    SparkEnv.get.conf.set(threshold, "100")
    try body
    finally SparkEnv.get.conf.remove(threshold): Unit
  }

  private def assertByKey(found: Seq[Row]): Unit = {
    val runs = found.map(_.key).foldLeft(List.empty[Int]) { (runs, key) =>
      if (runs.headOption.contains(key)) runs else key :: runs
    }
    assert(runs.distinct == runs)
    assert(found.groupBy(_.key) == inBlocks.sortBy(_.arrival).groupBy(_.key))
  }

  for (keys <- Seq(IntegerType, LongType, StringType)) {
    test(s"the rows of a key are in the order of their arrival, $keys") {
      assertByKey(sorted(inBlocks, keys))
    }

    test(s"they are in that order after a spill, $keys") {
      spilling(assertByKey(sorted(inBlocks, keys)))
    }

    test(s"they are in that order if a shuffle changes it, $keys") {
      assertByKey(sorted(inBlocks.reverse, keys))
      assertByKey(sorted(inBlocks.sortBy(_.row), keys))
      spilling(assertByKey(sorted(inBlocks.sortBy(row => row.arrival * 31 % 101), keys)))
    }
  }
}

private object ArrivalSortSuite {

  /** A row of a task; key 0 is null. */
  final case class Row(key: Int, task: Int, row: Int) {
    def arrival: Long = task.toLong << 33 | row
  }

  private def value(key: Int, of: DataType): Any =
    if (key == 0) null
    else
      of match {
        case IntegerType => if (key == 1) 128 else key // beside null in the store's order
        case LongType => key.toLong << 33
        case _ => UTF8String.fromString(s"key $key")
      }

  def sortedInTask(rows: Seq[Row], keys: DataType): Iterator[Row] = {
    val key = AttributeReference("key", keys)()
    val arrival = AttributeReference("arrival", LongType, nullable = false)()
    val number = AttributeReference("number", IntegerType, nullable = false)()
    val input: Seq[Attribute] = Seq(key, arrival, number)
    val project = UnsafeProjection.create(input, input)
    val unsafe = rows.iterator.map { row =>
      project(InternalRow(value(row.key, keys), row.arrival, row.key)): InternalRow
    }
    new ArrivalSort(Seq(key), arrival, input).sorted(unsafe).map { row =>
      val at = row.getLong(1)
      Row(row.getInt(2), (at >>> 33).toInt, at.toInt)
    }
  }
}
