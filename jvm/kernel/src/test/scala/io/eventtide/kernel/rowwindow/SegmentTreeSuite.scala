package io.eventtide.kernel.rowwindow

import java.util.BitSet

import scala.collection.mutable

import org.scalacheck.Gen
import org.scalatest.funsuite.AnyFunSuite
import org.scalatestplus.scalacheck.ScalaCheckPropertyChecks

import io.eventtide.kernel.window.{Buffers, ByteSink, ByteSource}

final class SegmentTreeSuite extends AnyFunSuite with ScalaCheckPropertyChecks {

  test("any slots come out merged in their order") {
    val cases = for {
      count <- Gen.choose(0, 40)
      slots <- Gen.listOfN(6, Gen.someOf(0 until count))
    } yield count -> slots
    forAll(cases) { case (count, all) =>
      val texts = new Texts
      val tree = new SegmentTree(texts, count, slot => texts.of(s"$slot "))
      all.foreach { slots =>
        val set = new BitSet
        slots.foreach(set.set)
        assert(texts(tree.of(set)) == slots.sorted.map(slot => s"$slot ").mkString)
      }
    }
  }

  test("a range takes few merges") {
    val texts = new Texts
    val tree = new SegmentTree(texts, 1000, slot => texts.of(s"$slot "))
    val set = new BitSet
    set.set(1, 999)
    tree.of(set): Unit
    texts.merges = 0
    set.clear(1)
    tree.of(set): Unit
    assert(texts.merges <= 20)
  }

  test("nothing is merged that no window has together") {
    val texts = new Texts
    val tree = new SegmentTree(texts, 100, slot => texts.of(s"$slot "))
    for (end <- 2 to 100) {
      val set = new BitSet
      set.set(end - 2, end)
      assert(texts(tree.of(set)) == s"${end - 2} ${end - 1} ")
    }
    assert(texts.longest <= "98 99 ".length)
  }
}

/** Buffers of text, whose order shows. */
private final class Texts extends Buffers {
  private val texts = mutable.ArrayBuffer.empty[String]
  var merges = 0

  def apply(buffer: Int): String = texts(buffer)
  def longest: Int = texts.map(_.length).max

  def of(text: String): Int = {
    texts += text
    texts.length - 1
  }

  def fresh(): Int = of("")
  def copy(from: Int): Int = of(texts(from))

  def merge(into: Int, from: Int): Unit = {
    merges += 1
    texts(into) += texts(from)
  }

  def deduct(into: Int, from: Int): Unit = throw new UnsupportedOperationException
  def release(buffer: Int): Unit = ()
  def write(buffer: Int, out: ByteSink): Unit = throw new UnsupportedOperationException
  def read(in: ByteSource): Int = throw new UnsupportedOperationException
}
