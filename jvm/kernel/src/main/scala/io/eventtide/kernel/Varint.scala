package io.eventtide.kernel

import java.io.DataInput
import java.io.DataOutput

/** Integers of zero or more, seven bits in a byte: small ones are short. */
private[kernel] object Varint {
  def write(out: DataOutput, value: Long): Unit = {
    var rest = value
    while ((rest & ~0x7fL) != 0) {
      out.writeByte((rest & 0x7f | 0x80).toInt)
      rest >>>= 7
    }
    out.writeByte(rest.toInt)
  }

  def read(in: DataInput): Long = {
    var value = 0L
    var shift = 0
    var next = in.readUnsignedByte()
    while (next >= 0x80) {
      value |= (next & 0x7fL) << shift
      shift += 7
      next = in.readUnsignedByte()
    }
    value | next.toLong << shift
  }
}
