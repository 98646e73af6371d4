package io.eventtide.spark.planning

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.codegen.GenerateUnsafeProjection
import org.apache.spark.sql.catalyst.expressions.{AttributeReference, BindReferences}
import org.apache.spark.sql.types.TimestampType
import org.scalacheck.Gen
import org.scalatest.funsuite.AnyFunSuite
import org.scalatestplus.scalacheck.ScalaCheckPropertyChecks

import io.eventtide.kernel.time.Frame

final class FrameNumberSuite extends AnyFunSuite with ScalaCheckPropertyChecks {
  private val time = AttributeReference("ts", TimestampType)()

  private val frames = for {
    size <- Gen.oneOf(Gen.choose(1L, 10L), Gen.choose(1L, Long.MaxValue))
    offset <- Gen.oneOf(Gen.const(0L), Gen.choose(0L, size - 1))
  } yield Frame(size, offset)

  private val micros = Gen.oneOf(
    Gen.choose(-20L, 20L),
    Gen.choose(Long.MinValue, Long.MaxValue),
    Gen.oneOf(Long.MinValue, Long.MaxValue)
  )

  test("generated code counts frames as the kernel does") {
    forAll(frames, Gen.listOfN(50, micros)) { (frame, times) =>
      val bound = BindReferences.bindReference(FrameNumber(time, frame), Seq(time))
      val number = GenerateUnsafeProjection.generate(Seq(bound))
      times.foreach(ts => assert(number(InternalRow(ts)).getLong(0) == frame.index(ts)))
      assert(number(InternalRow(null)).isNullAt(0))
    }
  }
}
