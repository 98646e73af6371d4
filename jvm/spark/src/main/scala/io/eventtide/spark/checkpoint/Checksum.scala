package io.eventtide.spark.checkpoint

import java.nio.ByteBuffer
import java.util.zip.CRC32C

/** CRC32C, which detects damaged files. */
private[checkpoint] object Checksum {
  def of(bytes: ByteBuffer): Int = {
    val crc = new CRC32C
    crc.update(bytes)
    crc.getValue.toInt
  }
}
