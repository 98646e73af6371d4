package io.eventtide.kernel.window

import org.scalatest.Assertions.assert

/** Records as a caller keeps them between two times that a key is touched. */
private[window] object Records {

  def bytes(write: ByteSink => Unit): Array[Byte] = {
    val out = new ByteSink
    write(out)
    out.bytes.take(out.position)
  }

  /** Has all of a record read. */
  def readAll(record: Array[Byte])(read: ByteSource => Unit): Unit = {
    val in = new ByteSource
    in.reset(record, 0)
    read(in)
    assert(in.position == record.length, "the record is longer than what was read of it")
  }
}
