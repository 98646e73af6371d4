package io.eventtide.spark.state

import org.apache.spark.sql.catalyst.expressions.aggregate.{AggregateFunction, CollectList, Count}
import org.apache.spark.sql.catalyst.expressions.{
  AttributeReference,
  SpecificInternalRow,
  UnsafeProjection,
  UnsafeRow
}
import org.apache.spark.sql.types.LongType
import org.scalatest.funsuite.AnyFunSuite

import io.eventtide.kernel.window.{ByteSink, ByteSource}

/** What is released is used again, and nothing of it is seen. */
final class BufferPoolSuite extends AnyFunSuite {
  private val column = AttributeReference("n", LongType)()

  for (
    (name, function) <- Seq[(String, AggregateFunction)](
      "fixed" -> Count(Seq(column)),
      "objects" -> CollectList(column)
    )
  ) {
    val calls = new AggregateFunctions(Seq(function), Nil)
    val buffers = BufferPool(calls, AggregateFunctions.areFixed(Seq(function)))

    test(s"$name: thousands of buffers one after the other take the numbers of two") {
      buffers.reset()
      val kept = oneValue()
      val numbers = (1 to 5000).map { _ =>
        val copy = buffers.copy(kept)
        buffers.merge(copy, kept)
        assert(valuesIn(copy) == 2)
        buffers.release(copy)
        copy
      }
      assert(numbers.distinct.length == 1)
      assert(valuesIn(kept) == 1)
    }

    test(s"$name: a buffer that is used again is empty, also one that was read") {
      buffers.reset()
      val full = oneValue()
      val out = new ByteSink
      buffers.write(full, out)
      buffers.release(full)
      val in = new ByteSource
      in.reset(out.bytes, 0)
      val read = buffers.read(in)
      assert(valuesIn(read) == 1)
      buffers.release(read)
      assert(Seq.fill(3)(buffers.fresh()).map(valuesIn) == Seq(0, 0, 0))
    }

    test(s"$name: a buffer that was read takes no slot from one that is kept") {
      buffers.reset()
      val kept = oneValue()
      val out = new ByteSink
      buffers.write(buffers.fresh(), out)
      val in = new ByteSource
      in.reset(out.bytes, 0)
      buffers.release(buffers.read(in))
      in.reset(out.bytes, 0)
      val read = buffers.read(in)
      buffers.merge(read, kept)
      assert((valuesIn(kept), valuesIn(read)) == ((1, 1)))
    }

    def valuesIn(buffer: Int): Int = calls.evaluate(buffers.row(buffer)) match {
      case result if name == "fixed" => result.getLong(0).toInt
      case result => result.getArray(0).numElements()
    }

    /** As partial aggregation makes it. */
    def oneValue(): Int = {
      val row = new SpecificInternalRow(calls.types.toSeq)
      calls.initialize(row)
      function match {
        case list: CollectList =>
          val placed = list.withNewMutableAggBufferOffset(0).asInstanceOf[CollectList]
          row.update(0, placed.serialize(placed.createAggregationBuffer() += 7L))
        case _ => row.setLong(0, 1)
      }
      val bytes: UnsafeRow = UnsafeProjection.create(calls.types).apply(row).copy()
      buffers.copy(buffers.input(bytes))
    }
  }
}
