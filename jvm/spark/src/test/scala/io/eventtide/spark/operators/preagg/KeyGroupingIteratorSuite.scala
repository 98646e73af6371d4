package io.eventtide.spark.operators.preagg

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{AttributeReference, UnsafeProjection}
import org.apache.spark.sql.execution.ExternalAppendOnlyUnsafeRowArray
import org.apache.spark.sql.types.{DataType, DateType, IntegerType, LongType, ShortType, StringType}
import org.apache.spark.unsafe.types.UTF8String
import org.apache.spark.{SparkContext, TaskContext}
import org.scalacheck.Gen
import org.scalatest.funsuite.AnyFunSuite
import org.scalatest.tags.Slow
import org.scalatestplus.scalacheck.ScalaCheckPropertyChecks

import io.eventtide.spark.LocalSession
import io.eventtide.spark.operators.KeySortPrefix

@Slow
final class KeyGroupingIteratorSuite
    extends AnyFunSuite
    with LocalSession
    with ScalaCheckPropertyChecks {
  import KeyGroupingIteratorSuite._

  private val rows = Gen.listOf(Gen.zip(Gen.choose(0, 20), Gen.choose(0, 1000)))

  for (rowsAtHand <- Seq(1000, 0))
    test(s"keys come together whatever number they share, in order, $rowsAtHand rows at hand") {
      forAll(rows, Gen.choose(1, 8)) { (unsorted, numbers) =>
        val sorted = unsorted.sortBy(_._1 % numbers)
        val found = inTask(spark.sparkContext)(together(sorted, numbers, rowsAtHand)).rows
        val runs = found.map(_._1).foldLeft(List.empty[Int]) { (runs, key) =>
          if (runs.headOption.contains(key)) runs else key :: runs
        }
        assert(runs.distinct == runs)
        assert(found.map(_._1 % numbers) == sorted.map(_._1 % numbers))
        assert(found.groupMap(_._1)(_._2) == sorted.groupMap(_._1)(_._2))
      }
    }

  test("rows that wait are spilled, and come out as without a spill") {
    // one number, one hot key behind another, and rows of both in turns
    val hot = (0 until 200000).map(i => (if (i % 10 == 0) 0 else 1 + i % 3, i))
    val atHand = inTask(spark.sparkContext)(together(hot, 1, rowsAtHand = 1000000))
    val spilled = inTask(spark.sparkContext)(together(hot, 1, rowsAtHand = 100))
    assert(atHand.spills == 0)
    assert(spilled.spills > 0)
    assert(spilled.rows == atHand.rows)
    assert(spilled.rows.groupMap(_._1)(_._2) == hot.groupMap(_._1)(_._2))
  }

  private def numbers(of: DataType, values: Any*): Seq[Long] = {
    val column = AttributeReference("key", of)()
    val number = UnsafeProjection.create(Seq(KeySortPrefix(Seq(column))), Seq(column))
    values.map(value => number(InternalRow(value)).getLong(0))
  }

  private def assertSorted(found: Seq[Long]) = assert(found == found.sorted)

  test("numbers are ordered as a store orders their bytes") {
    val values = Seq(0, 256, 512, -256, 1, 257, 2, -1)
    assertSorted(numbers(IntegerType, values: _*))
    assert(numbers(DateType, values: _*) == numbers(IntegerType, values: _*))
    assertSorted(numbers(ShortType, Seq(0, 256, 1, -1).map(_.toShort): _*))
    assertSorted(numbers(LongType, 0L, 1L << 40, 1L, -1L))
  }

  test("no shorter number has that of null, and no long one that comes often") {
    assert(numbers(IntegerType, null) == numbers(LongType, null))
    val none = numbers(LongType, null).head
    assert(!(-1000 to 1000).flatMap(i => numbers(IntegerType, i, i << 16)).contains(none))
    assert(!(-1000L to 1000L).flatMap(i => numbers(LongType, i, i << 40)).contains(none))
  }

  test("other keys have a hash, which is never negative") {
    val texts = (1 to 100).map(i => UTF8String.fromString(s"key $i"))
    val found = numbers(StringType, texts: _*)
    assert(found.forall(_ >= 0))
    assert(found.distinct.length > 95)
  }
}

object KeyGroupingIteratorSuite {
  private val columns = Seq("key", "value").map(AttributeReference(_, IntegerType)())

  /** The rows as they come, and how many bytes of them were spilled. */
  final case class Found(rows: Seq[(Int, Int)], spills: Long)

  /** Only a task has memory to spill from. */
  def inTask(context: SparkContext)(find: () => Found): Found =
    context.parallelize(Seq(0), 1).map(_ => find()).collect().head

  def together(sorted: Seq[(Int, Int)], numbers: Int, rowsAtHand: Int): () => Found = () => {
    val rowOf = UnsafeProjection.create(columns, columns)
    val keyOf = UnsafeProjection.create(columns.take(1), columns)
    val input = sorted.iterator.map { case (key, value) => rowOf(InternalRow(key, value)) }
    val number = (row: InternalRow) => (row.getInt(0) % numbers).toLong
    val rows = new KeyGroupingIterator(input, number, keyOf(_), () => room(rowsAtHand))
    val found = rows.map(row => (row.getInt(0), row.getInt(1))).toList
    Found(found, TaskContext.get().taskMetrics().diskBytesSpilled)
  }

  private def room(rowsAtHand: Int) =
    new ExternalAppendOnlyUnsafeRowArray(
      rowsAtHand,
      Long.MaxValue,
      math.max(rowsAtHand, 1000),
      Long.MaxValue
    )
}
