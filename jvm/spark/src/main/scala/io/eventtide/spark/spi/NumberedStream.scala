package io.eventtide.spark.spi

import org.apache.spark.sql.connector.read.streaming.{
  MicroBatchStream,
  Offset,
  SupportsTriggerAvailableNow
}
import org.apache.spark.sql.execution.streaming.runtime.LongOffset

/** A stream whose offsets are numbers, as `LongOffset`, and which needs no commit and no stop. */
private[spark] trait NumberedStream extends MicroBatchStream with SupportsTriggerAvailableNow {

  override def latestOffset(): Offset =
    throw new UnsupportedOperationException("latestOffset(Offset, ReadLimit) is used")

  override def deserializeOffset(json: String): Offset = LongOffset(json.toLong)

  override def commit(end: Offset): Unit = ()

  override def stop(): Unit = ()

  protected def numberOf(offset: Offset): Long = offset.asInstanceOf[LongOffset].offset
}
