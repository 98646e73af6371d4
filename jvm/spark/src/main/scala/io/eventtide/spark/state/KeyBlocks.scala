package io.eventtide.spark.state

import org.apache.spark.sql.catalyst.expressions.{JoinedRow, SpecificInternalRow, UnsafeRow}
import org.apache.spark.sql.execution.streaming.state.StateStore
import org.apache.spark.sql.types.LongType

import io.eventtide.kernel.window.{BlockStore, ByteSink, ByteSource}

/** The blocks of one key at a time, in the column families of a partition's state. */
private[state] final class KeyBlocks(store: StateStore, families: WindowStateLayout) {
  private val number = new SpecificInternalRow(Seq(LongType))
  private val joined = new JoinedRow
  private val blockKeyOf = Projections.columns(families.blockKeys)
  private var key: UnsafeRow = _
  private var changed = false

  /** Whether a block of the key has changed since `open`. */
  def hasChanged: Boolean = changed

  def open(key: UnsafeRow): Unit = {
    this.key = key
    changed = false
  }

  private def blockKey(block: Long): UnsafeRow = {
    number.setLong(0, block)
    blockKeyOf(joined(key, number))
  }

  /** The blocks of the key in one of the families. */
  def in(family: String): BlockStore = new BlockStore {
    private val values = new BinaryRow

    def sink(): ByteSink = values.begin()

    def write(block: Long, content: ByteSink): Unit = {
      changed = true
      store.put(blockKey(block), values.end(), family)
    }

    def read(block: Long): ByteSource = {
      val source = new ByteSource
      BinaryRow.open(store.get(blockKey(block), family), source)
      source
    }

    def remove(block: Long): Unit = {
      changed = true
      store.remove(blockKey(block), family)
    }
  }
}
