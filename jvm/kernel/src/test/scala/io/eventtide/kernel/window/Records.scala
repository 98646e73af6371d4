package io.eventtide.kernel.window

import org.scalatest.Assertions.assert

/** Records as a caller keeps them between two times that a key is touched. */
private[window] object Records {

  /** Writes a record and has all of it read. */
  def throughBytes(write: ByteSink => Unit)(read: ByteSource => Unit): Unit = {
    val out = new ByteSink
    write(out)
    val in = new ByteSource
    in.reset(out.bytes, 0)
    read(in)
    assert(in.position == out.position, "the record is longer than what was read of it")
  }
}
