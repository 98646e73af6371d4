package io.eventtide.kernel.window

/** Stores the frames or rows of one key in blocks, so that a long window is not one long record.
  *
  * The name of a block is the number of its first frame or row at creation. The caller stores the
  * names with the key.
  */
trait BlockStore {

  def write(block: Long, content: ByteSink): Unit

  /** The content of an existing block; valid until the caller moves to the next key. */
  def read(block: Long): ByteSource

  def remove(block: Long): Unit

  /** An empty sink for the next block. */
  def sink(): ByteSink
}

object BlockStore {

  /** For state that is kept in memory as a whole. */
  object None extends BlockStore {
    def write(block: Long, content: ByteSink): Unit = never()
    def read(block: Long): ByteSource = never()
    def remove(block: Long): Unit = never()
    def sink(): ByteSink = never()

    private def never() = throw new IllegalStateException(
      "windows that are stored as a whole have no blocks"
    )
  }
}
