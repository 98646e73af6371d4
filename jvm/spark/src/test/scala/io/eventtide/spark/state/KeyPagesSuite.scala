package io.eventtide.spark.state

import scala.collection.mutable
import scala.util.Random

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{UnsafeProjection, UnsafeRow}
import org.apache.spark.sql.execution.streaming.state.StateStore
import org.apache.spark.sql.types.{StringType, StructType}
import org.apache.spark.unsafe.types.UTF8String
import org.scalatest.funsuite.AnyFunSuite

/** The states of several keys in one record. */
final class KeyPagesSuite extends AnyFunSuite with PartitionBatches {
  override protected val families: WindowStateLayout =
    WindowStateLayout(new StructType().add("key", StringType), hasFrameTimers = false)
  private val keyOf = UnsafeProjection.create(families.keys)
  private val values = new BinaryRow
  private val random = new Random(35)
  private val expected = mutable.Map.empty[String, Seq[Byte]]
  private var meta: Option[PartitionMeta] = None

  private def key(text: String): UnsafeRow = keyOf(InternalRow(UTF8String.fromString(text)))

  private def valueOf(bytes: Seq[Byte]): UnsafeRow = {
    val out = values.begin()
    bytes.foreach(byte => out.putByte(byte.toInt))
    values.end()
  }

  private def bytesOf(row: UnsafeRow): Option[Seq[Byte]] = Option(row).map(_.getBinary(0).toSeq)

  private def stored(store: StateStore): Map[String, Seq[Byte]] = {
    val all = KeyPages.all(store, families)
    try all.map(one => one.key.getString(0) -> one.value.getBinary(0).toSeq).toMap
    finally all.close()
  }

  private def records(store: StateStore, family: String): Int = {
    val all = store.iterator(family)
    try all.size
    finally all.close()
  }

  /** A batch on the pages; the number of keys and of bits are kept for the next one. */
  private def batch[A](work: (StateStore, KeyPages) => A): A = inBatch { store =>
    families.create(store)
    val pages = new KeyPages(store, families, meta)
    val result = work(store, pages)
    pages.flush()
    val never = Long.MaxValue
    meta = Some(PartitionMeta(expected.size, never, never, 0, 0, "", pageBits = pages.pageBits))
    result
  }

  private def put(pages: KeyPages, text: String, length: Int): Unit = {
    val bytes = new Array[Byte](length)
    random.nextBytes(bytes)
    pages.put(key(text), valueOf(bytes.toSeq))
    expected(text) = bytes.toSeq
  }

  private def remove(pages: KeyPages, text: String): Unit = {
    pages.remove(key(text))
    expected -= text
  }

  test("pages give what was put, small and large, while their number grows") {
    for (n <- 1 to 8) batch { (_, pages) =>
      for (_ <- 1 to 500) {
        val text = s"key ${random.nextInt(40 * n * n)}"
        assert(bytesOf(pages.get(key(text))) == expected.get(text))
        if (random.nextInt(4) == 0) remove(pages, text)
        else put(pages, text, 1 + random.nextInt(if (random.nextInt(5) == 0) 2000 else 100))
      }
    }
    batch { (store, _) => assert(stored(store) == expected.toMap) }
  }

  test("a page has the keys of a hash, and a large state has a record of its own") {
    batch { (store, pages) =>
      expected.keys.toList.foreach(remove(pages, _))
      pages.flush()
      assert(records(store, WindowStateLayout.Pages) == 0)
      for (n <- 1 to 1000) put(pages, s"small $n", 50)
      for (n <- 1 to 10) put(pages, s"large $n", 1000)
      pages.flush()
      val paged = records(store, WindowStateLayout.Pages)
      assert(paged >= 1000 / 16 && paged <= (1 << pages.pageBits))
      assert(records(store, StateStore.DEFAULT_COL_FAMILY_NAME) == 10)
      put(pages, "large 1", 20)
      assert(records(store, StateStore.DEFAULT_COL_FAMILY_NAME) == 9)
    }
    batch { (store, _) => assert(stored(store) == expected.toMap) }
  }

  test("keys that are put later are not among all keys") {
    batch { (_, pages) =>
      val all = pages.all
      val first = all.next().key.copy()
      for (n <- 2001 to 2400) put(pages, s"small $n", 50)
      val others = all.map(_.key.getString(0)).toSet
      all.close()
      assert(others.size == expected.size - 400 - 1 && !others(first.getString(0)))
    }
    batch { (store, _) => assert(stored(store) == expected.toMap) }
  }

  test("the states of a page may change often in a batch") {
    batch { (_, pages) =>
      val before = expected.keys.head
      for (n <- 1 to 20000) put(pages, before, 1 + n % 200)
      assert(bytesOf(pages.get(key(before))) == expected.get(before))
    }
    batch { (store, _) => assert(stored(store) == expected.toMap) }
  }
}
