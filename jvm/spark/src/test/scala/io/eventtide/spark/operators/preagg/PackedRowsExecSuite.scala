package io.eventtide.spark.operators.preagg

import scala.util.Random

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{Attribute, AttributeReference, UnsafeProjection}
import org.apache.spark.sql.types.{LongType, StringType}
import org.apache.spark.unsafe.types.UTF8String
import org.scalatest.funsuite.AnyFunSuite

/** Rows of a key in one row, and read again. */
final class PackedRowsExecSuite extends AnyFunSuite {
  import PackedRowsExecSuite._

  private val random = new Random(35)

  private def rows(count: Int, keys: Int): Seq[Row] = (0 until count).map { n =>
    val key = random.nextInt(keys)
    Row(if (key == 0) None else Some(s"key $key"), n * 10L, n.toLong)
  }

  private def packed(rows: Seq[Row], most: Int): Seq[InternalRow] = {
    val input = rows.iterator.map(row => project(row.internal))
    val kept = Seq(true, false, true)
    new PackedRowsIterator(input, columns, kept, keyCount = 1, most).map(_.copy()).toSeq
  }

  private def read(packs: Seq[InternalRow]): Seq[Seq[Row]] = {
    val reader = new FrameReader.Mixed(
      keyCount = 1,
      columns.length,
      new RowPacker.Reader(columns.length, columns.length, keyCount = 1),
      aggregates = false
    )
    packs.map { pack =>
      reader.begin(pack)
      val first = Row.of(reader)
      assert(!reader.isAggregated)
      first +: Iterator
        .continually(reader.next())
        .takeWhile(identity)
        .map(_ => Row.of(reader))
        .toSeq
    }
  }

  for ((keys, most) <- Seq(1 -> 200, 7 -> 2000, 7 -> (1 << 20), 5000 -> (1 << 20)))
    test(s"the rows of $keys keys come in the order of their arrival, in packs of $most bytes") {
      val all = rows(3000, keys)
      val found = read(packed(all, most))
      assert(found.forall(_.map(_.key).distinct.length == 1))
      assert(found.flatten.groupBy(_.key) == all.groupBy(_.key))
    }

  test("a pack has the key, and the arrival of its first row") {
    val packs = packed(rows(100, keys = 3), most = 1 << 20)
    assert(packs.length == 3)
    packs.zip(read(packs)).foreach { case (pack, rows) =>
      assert(keyOf(pack) == rows.head.key && pack.isNullAt(1))
      assert(pack.getLong(2) == rows.head.arrival)
    }
    assert(packs.map(_.getLong(2)) == packs.map(_.getLong(2)).sorted)
  }

  test("rows pass through once a pack has hardly more than one row") {
    val found = packed(rows(4000, keys = 1000000), most = 20000)
    assert(found.length > 3900 && found.last.isNullAt(3) && !found.head.isNullAt(3))
  }

  test("no rows are no packs") {
    assert(packed(Nil, most = 100).isEmpty)
  }
}

private object PackedRowsExecSuite {
  val columns: Seq[Attribute] = Seq(
    AttributeReference("key", StringType)(),
    AttributeReference("micros", LongType, nullable = false)(),
    AttributeReference("arrival", LongType, nullable = false)()
  )
  val project: UnsafeProjection = UnsafeProjection.create(columns, columns)

  final case class Row(key: Option[String], micros: Long, arrival: Long) {
    def internal: InternalRow =
      InternalRow(key.map(UTF8String.fromString).orNull, micros, arrival)
  }

  object Row {
    def of(reader: FrameReader): Row = {
      assert(reader.frame == reader.buffer.getLong(1))
      Row(keyOf(reader.buffer), reader.frame, reader.buffer.getLong(2))
    }
  }

  def keyOf(row: InternalRow): Option[String] = Option(row.getUTF8String(0)).map(_.toString)
}
