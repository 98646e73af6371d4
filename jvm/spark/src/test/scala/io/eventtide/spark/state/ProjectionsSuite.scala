package io.eventtide.spark.state

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{
  Add,
  Attribute,
  AttributeReference,
  Concat,
  Expression,
  Literal,
  ScalaUDF,
  SpecificInternalRow
}
import org.apache.spark.sql.types.{IntegerType, LongType, StringType}
import org.apache.spark.unsafe.types.UTF8String
import org.scalatest.funsuite.AnyFunSuite

class ProjectionsSuite extends AnyFunSuite {
  private val number = AttributeReference("number", LongType)()
  private val text = AttributeReference("text", StringType)()
  private val input: Seq[Attribute] = Seq(number, text)
  private val row = InternalRow(4L, UTF8String.fromString("a"))

  private def sum(more: Long): Seq[Expression] =
    Seq(Add(number, Literal(more)), Concat(Seq(text, Literal("b"))))

  test("the second projection of the same expressions is another instance of the same class") {
    val (one, two) = (Projections.unsafe(sum(3), input), Projections.unsafe(sum(3), input))
    assert((one ne two) && one.getClass == two.getClass)
    val first = one(row)
    two(InternalRow(5L, UTF8String.fromString("c")))
    assert(first.getLong(0) == 7 && first.getUTF8String(1).toString == "ab")
  }

  test("other expressions give other values") {
    val values = Seq(3L, 30L, 3L).map(more => Projections.unsafe(sum(more), input)(row).getLong(0))
    assert(values == Seq(7L, 34L, 7L))
  }

  test("a mutable projection writes to its own target") {
    val rows = Seq.fill(2)(new SpecificInternalRow(Seq(LongType, StringType)))
    val inputs = Seq(row, InternalRow(40L, UTF8String.fromString("c")))
    rows.map(Projections.mutable(sum(3), input).target(_)).zip(inputs).foreach { case (one, from) =>
      one(from)
    }
    assert(rows.map(_.getLong(0)) == Seq(7L, 43L))
  }

  test("columns keep their types and their nulls") {
    val copied = Projections.columns(Seq(IntegerType, StringType))(InternalRow(5, null))
    assert(copied.getInt(0) == 5 && copied.isNullAt(1))
  }

  test("functions of users, which may have state, are not shared") {
    class Counter extends (Long => Long) {
      private var calls = 0L
      override def apply(value: Long): Long = { calls += 1; calls }
    }
    def counted = Projections.unsafe(
      Seq(ScalaUDF(new Counter, LongType, Seq(number), udfDeterministic = false)),
      input
    )
    assert(Seq.fill(2)(counted(row).getLong(0)) == Seq(1L, 1L))
  }
}
