package io.eventtide.kernel.completeness

import java.io.{ByteArrayInputStream, ByteArrayOutputStream, ObjectInputStream, ObjectOutputStream}

import scala.collection.mutable

import org.scalacheck.Gen
import org.scalatest.funsuite.AnyFunSuite
import org.scalatestplus.scalacheck.ScalaCheckPropertyChecks

final class FrameCountsSuite extends AnyFunSuite with ScalaCheckPropertyChecks {

  private val frames = Gen.listOf(
    Gen.oneOf(
      Gen.choose(-5L, 5L),
      Gen.choose(0L, 100L).map(_ << 40),
      Gen.oneOf(Long.MinValue, Long.MaxValue),
      Gen.long
    )
  )

  private def counted(frames: Seq[Long]): FrameCounts = {
    val counts = new FrameCounts
    frames.foreach(counts.add)
    counts
  }

  private def contents(of: FrameCounts): Map[Long, Long] = {
    val all = mutable.Map.empty[Long, Long]
    of.foreach((frame, rows) => all += frame -> rows: Unit)
    all.toMap
  }

  private def expected(frames: Seq[Long]) = frames.groupMapReduce(identity)(_ => 1L)(_ + _)

  private def serialized(counts: FrameCounts): FrameCounts = {
    val bytes = new ByteArrayOutputStream
    val out = new ObjectOutputStream(bytes)
    out.writeObject(counts)
    out.close()
    val in = new ObjectInputStream(new ByteArrayInputStream(bytes.toByteArray))
    in.readObject().asInstanceOf[FrameCounts]
  }

  test("each row counts for its frame") {
    forAll(frames) { frames =>
      val counts = counted(frames)
      assert(contents(counts) == expected(frames))
      assert(counts.size == frames.distinct.length)
      assert(counts.highest == frames.maxOption.getOrElse(Long.MinValue))
      assert(!counts.incomplete)
    }
  }

  test("merged and serialized counts are those of all rows") {
    forAll(frames, frames) { (one, other) =>
      val all = counted(one)
      all.merge(serialized(counted(other)))
      assert(contents(all) == expected(one ++ other))
      assert(all.highest == (one ++ other).maxOption.getOrElse(Long.MinValue))
    }
  }

  test("rows of further frames are not counted, and only the highest frame is known") {
    val counts = new FrameCounts(most = 3)
    Seq(7L, 1L, 5L, 9L, 7L, 2L).foreach(counts.add)
    assert(contents(counts) == Map(7L -> 2L, 1L -> 1L, 5L -> 1L))
    assert(counts.incomplete)
    assert(counts.highest == 9)
    val merged = new FrameCounts
    merged.merge(serialized(counts))
    assert(merged.incomplete)
    assert(merged.highest == 9)
  }
}
