package io.eventtide.spark.operators.preagg

import scala.collection.mutable
import scala.util.Random

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.aggregate.{Count, Max}
import org.apache.spark.sql.catalyst.expressions.codegen.GenerateUnsafeRowJoiner
import org.apache.spark.sql.catalyst.expressions.{
  AttributeReference,
  Literal,
  UnsafeProjection,
  UnsafeRow
}
import org.apache.spark.sql.catalyst.types.DataTypeUtils
import org.apache.spark.sql.types.{BinaryType, IntegerType, LongType, StringType, StructType}
import org.apache.spark.unsafe.types.UTF8String
import org.scalacheck.Gen
import org.scalatest.funsuite.AnyFunSuite
import org.scalatest.tags.Slow
import org.scalatestplus.scalacheck.ScalaCheckPropertyChecks

import io.eventtide.spark.state.AggregateFunctions

/** What is collected by key and frame comes out, whatever the keys, the frames and the memory. */
@Slow
final class FrameHashMapSuite extends AnyFunSuite with ScalaCheckPropertyChecks {
  private val keys =
    Seq(AttributeReference("a", IntegerType)(), AttributeReference("b", StringType)())
  private val keyOf = UnsafeProjection.create(keys, keys)

  private val value = AttributeReference("value", LongType)()
  private val calls = new AggregateFunctions(Seq(Count(Seq(Literal(1))), Max(value)), Nil)

  private val joiner = {
    val frames = new StructType().add("frames", BinaryType, nullable = false)
    GenerateUnsafeRowJoiner.create(DataTypeUtils.fromAttributes(keys), frames)
  }

  private def key(a: Int, b: String): UnsafeRow =
    keyOf(InternalRow(if (a == 0) null else a, if (b == null) null else UTF8String.fromString(b)))

  private type Found = mutable.Map[(Int, String, Long), (Long, Long)]

  private def open(memory: Long): FrameHashMap = {
    var left = memory
    new FrameHashMap(2, calls.empty, joiner, bytes => { left -= bytes; left >= 0 })
  }

  private def take(frames: FrameHashMap, key: UnsafeRow, frame: Long, value: Long): Unit = {
    val buffer = frames.buffer(key, frame)
    buffer.setLong(0, buffer.getLong(0) + 1)
    buffer.setLong(1, if (buffer.isNullAt(1)) value else math.max(buffer.getLong(1), value))
  }

  private def give(frames: FrameHashMap, into: Found): Unit = {
    val rowsGiven = Iterator.continually(frames).takeWhile(_.next()).map(_.row: InternalRow)
    val rows = KeyedFrameReader(rowsGiven, keys, new PackedFramesReader(2, calls.empty))
    while (rows.hasNext) {
      val key = rows.nextKey()
      val (a, b) = (key.getInt(0), Option(key.getUTF8String(1)).map(_.toString).orNull)
      while (rows.isSameKey) {
        val (count, max) = into.getOrElse((a, b, rows.frame), (0L, Long.MinValue))
        val buffer = rows.buffer
        into((a, b, rows.frame)) = (count + buffer.getLong(0), math.max(max, buffer.getLong(1)))
        rows.advance()
      }
    }
  }

  private val text = Gen.oneOf(null, "", "x", "a text of several words")

  private val row = for {
    a <- Gen.choose(0, 200)
    b <- text
    frame <- Gen.oneOf(Gen.choose(-3L, 3L), Gen.oneOf(Long.MinValue, Long.MaxValue))
    value <- Gen.choose(-9L, 9L)
  } yield (a, b, frame, value)

  test("rows are found again by key and frame, given away whenever memory is short") {
    var timesGiven = 0
    forAll(Gen.choose(0, 3000).flatMap(Gen.listOfN(_, row)), Gen.choose(0, 150)) { (rows, memory) =>
      val frames = open(memory = memory.toLong << 10)
      val (found, expected) = (mutable.Map.empty: Found, mutable.Map.empty: Found)
      rows.foreach { case (a, b, frame, value) =>
        if (frames.isFull) {
          give(frames, found)
          timesGiven += 1
        }
        take(frames, key(a, b), frame, value)
        val (count, max) = expected.getOrElse((a, b, frame), (0L, Long.MinValue))
        expected((a, b, frame)) = (count + 1, math.max(max, value))
      }
      give(frames, found)
      assert(found == expected)
    }
    assert(timesGiven > 5)
  }

  test("after it was refused memory it has no more of it than it was granted") {
    val frames = open(memory = 1L << 20)
    val keysGiven = for (_ <- 1 to 20) yield {
      var keys = 0
      while (!frames.isFull) {
        keys += 1
        take(frames, key(keys, null), 0, 0)
      }
      give(frames, mutable.Map.empty)
      keys
    }
    assert(keysGiven.max - keysGiven.min < keysGiven.max / 4)
  }

  test("a key of one number is found as a word, as a row, and when it is null") {
    val number = AttributeReference("n", LongType)()
    val keyOf = UnsafeProjection.create(Seq(number), Seq(number))
    val schema = DataTypeUtils.fromAttributes(Seq(number))
    val one = GenerateUnsafeRowJoiner.create(schema, new StructType().add("frames", BinaryType))
    val frames = new FrameHashMap(1, calls.empty, one, _ => true)
    def count(buffer: UnsafeRow): Unit = buffer.setLong(0, buffer.getLong(0) + 1)
    for (i <- 0 until 5000; frame <- 1 to 3) {
      count(frames.buffer(i.toLong, frame.toLong))
      count(frames.buffer(keyOf(InternalRow(i.toLong)), frame.toLong))
      count(frames.nullKeyBuffer(frame.toLong))
    }
    val all = Iterator
      .continually(frames)
      .takeWhile(_.next())
      .map { frames =>
        val key = if (frames.row.isNullAt(0)) -1L else frames.row.getLong(0)
        val found = new PackedFramesReader(1, calls.empty)
        found.begin(frames.row)
        val counts = Iterator.iterate(true)(_ => found.next()).takeWhile(more => more).map { _ =>
          found.frame -> found.buffer.getLong(0)
        }
        key -> counts.toMap
      }
      .toMap
    assert(all.size == 5001)
    assert(all(-1L) == Map(1L -> 5000L, 2L -> 5000L, 3L -> 5000L))
    assert((0 until 5000).forall(i => all(i.toLong) == Map(1L -> 2L, 2L -> 2L, 3L -> 2L)))
  }

  test("tens of thousands of keys with frames of their own") {
    val frames = open(memory = Long.MaxValue)
    val found = mutable.Map.empty: Found
    for (round <- 0 until 3; i <- 1 to 40_000)
      take(frames, key(i, "x"), i + round % 2L, round.toLong)
    give(frames, found)
    assert(found.size == 80_000)
    assert((1 to 40_000).forall(i => found((i, "x", i.toLong)) == ((2L, 2L))))
    assert((1 to 40_000).forall(i => found((i, "x", i + 1L)) == ((1L, 1L))))
  }

  test("a key finds its frames in whatever order they come, however many") {
    val frames = open(memory = Long.MaxValue)
    val found = mutable.Map.empty: Found
    val numbers =
      Seq(1L, 3600L, 1L << 20, -(1L << 40)).flatMap(step => (0L until 1000L).map(_ * step))
    for (seed <- 1 to 3; a <- 1 to 3; frame <- new Random(seed).shuffle(numbers.distinct))
      take(frames, key(a, "x" * a), frame, seed.toLong)
    give(frames, found)
    val expected = for (a <- 1 to 3; frame <- numbers.distinct) yield (a, "x" * a, frame)
    assert(found == expected.map(_ -> ((3L, 3L))).toMap)
  }

  test("without memory it is full, takes rows all the same, and is not after it gave them away") {
    val frames = open(memory = 0)
    assert(frames.isFull)
    for (i <- 1 to 100_000) take(frames, key(i, null), 0, 0)
    assert(frames.isFull)
    val found = mutable.Map.empty: Found
    give(frames, found)
    assert(found.size == 100_000)
    assert(!frames.isFull)
  }
}
