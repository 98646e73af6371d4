package io.eventtide.kernel.window

/** Where the frames of one key are put in blocks, so that a long window is not one long record.
  *
  * Blocks are named by their first frame when they were made. The caller keeps them beside the key.
  */
trait FrameArchive {

  def write(block: Long, content: ByteSink): Unit

  /** The content of a block that is there; good until the caller turns to the next key. */
  def read(block: Long): ByteSource

  def remove(block: Long): Unit

  /** A sink to write the next block with, empty. */
  def sink(): ByteSink
}

object FrameArchive {

  /** For a ring that keeps all its frames at hand, in one block. */
  object None extends FrameArchive {
    def write(block: Long, content: ByteSink): Unit = never()
    def read(block: Long): ByteSource = never()
    def remove(block: Long): Unit = never()
    def sink(): ByteSink = never()

    private def never() = throw new IllegalStateException("a ring of one block has no archive")
  }
}
