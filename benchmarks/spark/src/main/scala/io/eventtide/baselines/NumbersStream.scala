package io.eventtide.baselines

import org.apache.spark.sql.connector.read.streaming.{
  MicroBatchStream,
  Offset,
  ReadLimit,
  SupportsTriggerAvailableNow
}
import org.apache.spark.sql.connector.read.{InputPartition, PartitionReaderFactory}

private final case class NumbersOffset(batches: Long) extends Offset {
  override def json: String = batches.toString
}

/** Has one more batch whenever it is asked, and only one in an available-now run, as Spark's
  * `rate-micro-batch` has.
  */
private final class NumbersStream(numbers: Numbers)
    extends MicroBatchStream
    with SupportsTriggerAvailableNow {

  private var availableNow = false
  private var last: Option[NumbersOffset] = None // of an available-now run

  override def prepareForTriggerAvailableNow(): Unit = availableNow = true

  override def latestOffset(start: Offset, limit: ReadLimit): Offset = {
    val next = NumbersOffset(start.asInstanceOf[NumbersOffset].batches + 1)
    if (availableNow && last.isEmpty) last = Some(next)
    last.getOrElse(next)
  }

  override def latestOffset(): Offset =
    throw new UnsupportedOperationException("latestOffset(Offset, ReadLimit) is used")

  override def initialOffset: Offset = NumbersOffset(0)

  override def deserializeOffset(json: String): Offset = NumbersOffset(json.toLong)

  override def planInputPartitions(start: Offset, end: Offset): Array[InputPartition] =
    numbers
      .dealt(start.asInstanceOf[NumbersOffset].batches, end.asInstanceOf[NumbersOffset].batches)
      .toArray[InputPartition]

  override def createReaderFactory(): PartitionReaderFactory = NumbersReaders

  override def commit(end: Offset): Unit = ()

  override def stop(): Unit = ()
}
