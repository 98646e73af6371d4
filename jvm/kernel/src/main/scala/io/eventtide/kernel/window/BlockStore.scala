package io.eventtide.kernel.window

/** Where frames or rows of one key are put in blocks, so that a long window is not one long record.
  *
  * Blocks are named by their first frame or row when they were made. The caller keeps them beside the
  * key.
  */
trait BlockStore {

  def write(block: Long, content: ByteSink): Unit

  /** The content of a block that is there; good until the caller turns to the next key. */
  def read(block: Long): ByteSource

  def remove(block: Long): Unit

  /** A sink to write the next block with, empty. */
  def sink(): ByteSink
}

object BlockStore {

  /** For what is kept at hand as a whole. */
  object None extends BlockStore {
    def write(block: Long, content: ByteSink): Unit = never()
    def read(block: Long): ByteSource = never()
    def remove(block: Long): Unit = never()
    def sink(): ByteSink = never()

    private def never() = throw new IllegalStateException("what is kept as a whole has no archive")
  }
}
