package io.eventtide.kernel.window

import scala.collection.mutable

/** A block store with private changes; the store `under` it does not change. */
private[window] final class CopyOnWriteBlockStore(under: BlockStore) extends BlockStore {
  private val written = mutable.LongMap.empty[Array[Byte]]
  private val shared = new ByteSink

  /** Discards the changes. */
  def clear(): Unit = written.clear()

  def sink(): ByteSink = {
    shared.reset(0)
    shared
  }

  def write(block: Long, content: ByteSink): Unit =
    written(block) = content.bytes.take(content.position)

  def read(block: Long): ByteSource = written.get(block).fold(under.read(block)) { bytes =>
    val source = new ByteSource
    source.reset(bytes, 0)
    source
  }

  def remove(block: Long): Unit = written.remove(block): Unit
}
