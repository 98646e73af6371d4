package org.apache.spark.sql.eventtide

import java.util.concurrent.ConcurrentHashMap

import org.apache.spark.sql.catalyst.expressions.UnsafeRow
import org.apache.spark.sql.catalyst.expressions.codegen.UnsafeRowWriter
import org.apache.spark.sql.execution.streaming.state.{
  RocksDBKeyStateEncoder,
  RocksDBStateStoreProvider,
  RocksDBValueStateEncoder,
  StateStore,
  StateStoreIterator,
  UnsafeRowPair
}

/** The entries of one group, in a family that is ordered by group and a number.
  *
  * RocksDB finds them by a prefix of their keys. A store of Spark 4.1 scans only by all ordered
  * columns together. Therefore this scans the RocksDB instance in the store.
  */
private[eventtide] object GroupScan {
  private type Encoders =
    ConcurrentHashMap[String, (RocksDBKeyStateEncoder, RocksDBValueStateEncoder, Short)]

  private lazy val providerOf =
    method(classOf[RocksDBStateStoreProvider#RocksDBStateStore], "$$outer")
  private lazy val encodersOf = method(classOf[RocksDBStateStoreProvider], "$keyValueEncoderMap")

  private def method(of: Class[_], end: String) =
    of.getMethods.find(_.getName.endsWith(end)).getOrElse {
      throw new NoSuchMethodError(s"${of.getName}...$end")
    }

  /** @param start
    *   an entry of the group
    * @return
    *   None if the store is not RocksDB
    */
  def apply(
      store: StateStore,
      start: UnsafeRow,
      family: String
  ): Option[StateStoreIterator[UnsafeRowPair]] = store match {
    case rocks: RocksDBStateStoreProvider#RocksDBStateStore =>
      val provider = providerOf.invoke(rocks).asInstanceOf[RocksDBStateStoreProvider]
      val (keys, values, _) = encodersOf.invoke(provider).asInstanceOf[Encoders].get(family)
      val found = provider.rocksDB.prefixScan(prefix(keys, start.getLong(0)), family)
      val pair = new UnsafeRowPair
      val entries = found.map { entry =>
        pair.withRows(keys.decodeKey(entry.key), values.decodeValue(entry.value))
        pair
      }
      Some(new StateStoreIterator(entries, () => found.closeIfNeeded()))
    case _ => None
  }

  // The common prefix of the lowest and the highest key of the group, in any encoding of keys.
  private def prefix(keys: RocksDBKeyStateEncoder, group: Long): Array[Byte] = {
    val (low, high) = (encoded(keys, group, Long.MinValue), encoded(keys, group, Long.MaxValue))
    low.take(low.indices.indexWhere(i => low(i) != high(i)))
  }

  private def encoded(keys: RocksDBKeyStateEncoder, group: Long, number: Long): Array[Byte] = {
    val row = new UnsafeRowWriter(2)
    row.resetRowWriter()
    row.write(0, group)
    row.write(1, number)
    keys.encodePrefixKey(row.getRow)
  }
}
