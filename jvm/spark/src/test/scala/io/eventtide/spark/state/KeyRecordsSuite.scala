package io.eventtide.spark.state

import scala.collection.mutable
import scala.util.Random

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{UnsafeProjection, UnsafeRow}
import org.apache.spark.sql.execution.streaming.state.StateStore
import org.apache.spark.sql.types.{IntegerType, StructType}
import org.scalatest.funsuite.AnyFunSuite

/** The state of keys, with and without a cache. */
final class KeyRecordsSuite extends AnyFunSuite with PartitionBatches {
  override protected val families: WindowStateLayout = WindowStateLayout(
    new StructType().add("key", IntegerType)
  )
  private val keyOf = UnsafeProjection.create(families.keys)
  private val values = new BinaryRow

  private def key(id: Int): UnsafeRow = keyOf(InternalRow(id))

  private def valueOf(bytes: Array[Byte]): UnsafeRow = {
    val out = values.begin()
    bytes.foreach(out.putByte(_))
    values.end()
  }

  private def bytesOf(row: UnsafeRow): Option[Seq[Byte]] = Option(row).map(_.getBinary(0).toSeq)

  private def stored(store: StateStore): Map[Int, Seq[Byte]] = {
    val all = store.iterator()
    try all.map(one => one.key.getInt(0) -> one.value.getBinary(0).toSeq).toMap
    finally all.close()
  }

  private def caches: Seq[Long] = Seq(1L, 2000L, 1L << 20)

  caches.foreach { size =>
    test(s"a cache of $size bytes gives what was put, and the store has it after a flush") {
      val random = new Random(size)
      val expected = mutable.Map.empty[Int, Seq[Byte]]
      expected ++= inBatch(stored)
      for (_ <- 1 to 5) inBatch { store =>
        val records = new KeyRecords.Cached(new KeyRecords.Direct(store), size)
        for (_ <- 1 to 400) {
          val id = random.nextInt(30)
          assert(bytesOf(records.get(key(id))) == expected.get(id))
          if (random.nextInt(4) == 0) {
            records.remove(key(id))
            expected -= id
          } else {
            val bytes = new Array[Byte](random.nextInt(100))
            random.nextBytes(bytes)
            records.put(key(id), valueOf(bytes))
            expected(id) = bytes.toSeq
          }
        }
        records.flush()
        assert(stored(store) == expected.toMap)
      }
      assert(inBatch(stored) == expected.toMap)
    }
  }

  test("a large cache writes nothing before the flush") {
    inBatch { store =>
      val before = stored(store)
      val records = new KeyRecords.Cached(new KeyRecords.Direct(store), 1L << 20)
      for (id <- 100 to 200) records.put(key(id), valueOf(Array[Byte](1)))
      for (id <- 100 to 150) records.remove(key(id))
      assert(stored(store) == before)
      records.flush()
      assert(stored(store).keySet == before.keySet ++ (151 to 200))
    }
  }
}
