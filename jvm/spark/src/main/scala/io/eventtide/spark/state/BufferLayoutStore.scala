package io.eventtide.spark.state

import java.nio.charset.StandardCharsets.UTF_8

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{SpecificInternalRow, UnsafeProjection}
import org.apache.spark.sql.execution.streaming.state.StateStore
import org.apache.spark.sql.types.{BinaryType, DataType}

/** Stores the layout of a partition's buffers, in the same column family as its metadata. It is
  * written when it changes, with the state of the same batch.
  */
private[spark] final class BufferLayoutStore(store: StateStore, families: WindowStateLayout) {
  private val key = Projections.columns(families.partitionKeys).apply(InternalRow(1L))

  /** The layout as `BufferLayout.text`; None in a new partition. */
  def read(): Option[String] =
    Option(store.get(key, WindowStateLayout.PartitionMeta))
      .map(value => new String(value.getBinary(0), UTF_8))

  def write(text: String): Unit = {
    val types = Array[DataType](BinaryType)
    val values = new SpecificInternalRow(types.toSeq)
    values.update(0, text.getBytes(UTF_8))
    store.put(key, UnsafeProjection.create(types).apply(values), WindowStateLayout.PartitionMeta)
  }
}
