package io.eventtide.spark.operators.watermark

import org.apache.spark.sql.catalyst.expressions.{SpecializedGettersReader, UnsafeRow}
import org.apache.spark.sql.types._
import org.apache.spark.unsafe.types.UTF8String

import io.eventtide.kernel.watermark.EventTimeStats

/** Finds the substream of each row of one partition: one map access, or none while the key stays
  * the same.
  *
  * Generated code calls `find` of the concrete class; other callers pass the key as a row.
  */
abstract class SubstreamLookup private[watermark] {
  def findRow(key: UnsafeRow): EventTimeStats
}

final class SingleSubstreamLookup private[watermark] (val rows: EventTimeStats)
    extends SubstreamLookup {
  override def findRow(key: UnsafeRow): EventTimeStats = rows
}

/** Looks up by one column; null is a key too. */
abstract class ColumnSubstreamLookup private[watermark] (discover: Seq[Any] => EventTimeStats)
    extends SubstreamLookup {
  private var nulls: EventTimeStats = _

  final def findNull(): EventTimeStats = {
    if (nulls == null) nulls = discover(Seq(null))
    nulls
  }

  protected final def discovered(key: Any): EventTimeStats = discover(Seq(key))
}

/** Looks up by one column that Spark represents as an integer. */
final class LongSubstreamLookup private[watermark] (
    kind: DataType,
    discover: Seq[Any] => EventTimeStats
) extends ColumnSubstreamLookup(discover) {
  private val known = new LongTable[EventTimeStats]

  def find(key: Long): EventTimeStats = {
    val found = known.find(key)
    if (found != null) found else known.add(key, discovered(boxed(key)))
  }

  private def boxed(key: Long): Any = kind match {
    case ByteType => key.toByte
    case ShortType => key.toShort
    case IntegerType | DateType => key.toInt
    case _ => key
  }

  override def findRow(key: UnsafeRow): EventTimeStats =
    if (key.isNullAt(0)) findNull() else find(number(key))

  private def number(key: UnsafeRow): Long = kind match {
    case ByteType => key.getByte(0).toLong
    case ShortType => key.getShort(0).toLong
    case IntegerType | DateType => key.getInt(0).toLong
    case _ => key.getLong(0)
  }
}

/** Looks up by one string column. */
final class StringSubstreamLookup private[watermark] (discover: Seq[Any] => EventTimeStats)
    extends ColumnSubstreamLookup(discover) {
  private val known = new StringTable[EventTimeStats]

  def find(key: UTF8String): EventTimeStats = {
    val found = known.find(key)
    if (found != null) found else known.add(key, discovered(key))
  }

  override def findRow(key: UnsafeRow): EventTimeStats =
    if (key.isNullAt(0)) findNull() else find(key.getUTF8String(0))
}

/** Looks up by any other key, copied into one row as for Spark's grouping. */
final class RowSubstreamLookup private[watermark] (
    types: Seq[DataType],
    discover: Seq[Any] => EventTimeStats
) extends SubstreamLookup {
  private val known = new java.util.HashMap[UnsafeRow, KnownKey]
  private var last: KnownKey = _

  override def findRow(key: UnsafeRow): EventTimeStats = {
    if (last == null || key != last.key) {
      last = known.get(key)
      if (last == null) last = add(key.copy()) // the row is reused
    }
    last.rows
  }

  private def add(key: UnsafeRow): KnownKey = {
    val values = types.indices.map(i => SpecializedGettersReader.read(key, i, types(i), true, true))
    val added = new KnownKey(key, discover(values))
    known.put(key, added)
    added
  }
}

private final class KnownKey(val key: UnsafeRow, val rows: EventTimeStats)
