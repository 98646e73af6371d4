package io.eventtide.spark.checkpoint

import java.nio.ByteBuffer
import java.util.zip.CRC32C

/** CRC32C, by which a file tells that it is as it was written. */
private[checkpoint] object Checksum {
  def of(bytes: ByteBuffer): Int = {
    val crc = new CRC32C
    crc.update(bytes)
    crc.getValue.toInt
  }
}
