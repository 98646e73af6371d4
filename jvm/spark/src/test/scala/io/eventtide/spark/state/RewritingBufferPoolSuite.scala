package io.eventtide.spark.state

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.aggregate.{
  AggregateFunction,
  CollectList,
  Count,
  Max,
  Sum
}
import org.apache.spark.sql.catalyst.expressions.{Attribute, AttributeReference, UnsafeProjection}
import org.apache.spark.sql.types.LongType
import org.scalatest.funsuite.AnyFunSuite

import io.eventtide.kernel.window.{ByteSink, ByteSource}
import io.eventtide.spark.EventtideException

/** One buffer of a query, as a query with other aggregates reads it. */
class RewritingBufferPoolSuite extends AnyFunSuite {
  private val value: Attribute = AttributeReference("v", LongType)()

  private val count = "count" -> Count(Seq(value))
  private val sum = "sum" -> Sum(value)
  private val max = "max" -> Max(value)
  private val list = "list" -> CollectList(value)
  private def missing(name: String) = name -> MissingRows(name)

  private final class Query(parts: (String, AggregateFunction)*) {
    private val functions = parts.map(_._2)
    private val isFixed = AggregateFunctions.areFixed(functions)
    val calls = new AggregateFunctions(
      functions,
      Nil,
      Some(InputColumns(Seq(value), functions.map(_ => None)))
    )
    val layout: BufferLayout = BufferLayout(
      parts.map { case (name, function) => BufferPart.of(function, Seq(name)) },
      Option.when(isFixed)(calls.empty.getSizeInBytes),
      deducts = false
    )
    val pool: BufferPool = BufferPool(calls, isFixed)

    def written(values: Long*): ByteSource = {
      pool.reset()
      val buffer = pool.fresh()
      val row = UnsafeProjection.create(Array(value.dataType))
      values.foreach(v => pool.merge(buffer, pool.input(row(InternalRow(v)))))
      bytes(pool, buffer)
    }

    def results(buffer: Int): Seq[Any] = {
      val row = calls.evaluate(pool.row(buffer))
      functions.zipWithIndex.map { case (function, i) =>
        row.get(i, function.dataType) match {
          case array: org.apache.spark.sql.catalyst.util.ArrayData => array.toLongArray().toSeq
          case other => other
        }
      }
    }
  }

  private def bytes(pool: BufferPool, buffer: Int): ByteSource = {
    val out = new ByteSink
    pool.write(buffer, out)
    val in = new ByteSource
    in.reset(out.bytes, 0)
    in
  }

  /** What the second query has of rows 3 and 5 that the first one has saved. */
  private def rewritten(from: Query, to: Query): Seq[Any] = {
    val saved = from.written(3, 5)
    to.pool.reset()
    val pool =
      new RewritingBufferPool(to.pool, to.calls, BufferLayout.read(from.layout.text), to.layout)
    val again = bytes(to.pool, pool.read(saved))
    to.results(to.pool.read(again))
  }

  test("aggregates are found by their names, in fixed buffers and in buffers with objects") {
    val (fixed, objects) = (new Query(count, sum, max), new Query(max, list, count))
    assert(rewritten(fixed, new Query(max, count)) == Seq(5, 2))
    assert(rewritten(objects, new Query(count, list)) == Seq[Any](2, Seq(3, 5)))
    assert(rewritten(objects, new Query(count, max)) == Seq(2, 5))
    assert(rewritten(fixed, new Query(list, missing("list"), sum)) == Seq[Any](Nil, true, 8))
  }

  test("an added aggregate is empty, and lacks the rows of the buffer") {
    val added = new Query(count, max, missing("max"))
    assert(rewritten(new Query(count), added) == Seq[Any](2, null, true))
    assert(rewritten(new Query(count, max), added) == Seq[Any](2, 5, false))
    assert(rewritten(added, new Query(missing("max"), max)) == Seq[Any](false, 5))
  }

  test("an aggregate that should be there and is not is refused by name") {
    val error = intercept[EventtideException](rewritten(new Query(count), new Query(count, max)))
    assert(error.condition == "STATE_OF_OTHER_AGGREGATES")
    assert(
      error.getMessage.contains("no max in the form") && error.getMessage.contains("it has count.")
    )
  }

  test("a layout is read as it was written") {
    for (query <- Seq(new Query(count, missing("count")), new Query(list)))
      assert(BufferLayout.read(query.layout.text) == query.layout)
  }
}
