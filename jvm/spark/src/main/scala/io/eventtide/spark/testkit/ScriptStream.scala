package io.eventtide.spark.testkit

import org.apache.spark.TaskContext
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.connector.read.streaming.{
  Offset,
  PartitionOffset,
  ReadLimit,
  SupportsRealTimeMode
}
import org.apache.spark.sql.connector.read.{InputPartition, PartitionReader, PartitionReaderFactory}
import org.apache.spark.sql.eventtide.{ScriptedReader, TestClock}
import org.apache.spark.sql.execution.datasources.v2.LowLatencyClock
import org.apache.spark.sql.execution.streaming.runtime.{LongOffset, MicroBatchExecution}

import io.eventtide.spark.spi.NumberedStream

/** The stream of a script. An offset is the number of the batches that were read. In real-time mode,
  * it has one partition, which reads their rows in order.
  */
private[testkit] final class ScriptStream(script: ScriptSource)
    extends NumberedStream
    with SupportsRealTimeMode {
  private var end: Option[Int] = None
  private var isRealTime = false

  override def prepareForRealTimeMode(): Unit = isRealTime = true

  override def prepareForTriggerAvailableNow(): Unit = end = Some(script.length)

  override def latestOffset(start: Offset, limit: ReadLimit): Offset = {
    val next = math.min(numberOf(start) + 1, end.getOrElse(script.length).toLong)
    if (isRealTime) start else if (next == 0) null else LongOffset(next)
  }

  override def reportLatestOffset(): Offset = LongOffset(script.length.toLong)

  override def initialOffset: Offset = LongOffset(0L)

  override def planInputPartitions(start: Offset, end: Offset): Array[InputPartition] =
    script.partitions(numberOf(start).toInt, numberOf(end).toInt)

  override def planInputPartitions(start: Offset): Array[InputPartition] =
    Array(RunningPartition(script.id, numberOf(start).toInt))

  override def mergeOffsets(offsets: Array[PartitionOffset]): Offset =
    LongOffset(offsets.collect { case BatchesRead(count) => count.toLong }.max)

  override def createReaderFactory(): PartitionReaderFactory = ScriptReaders
}

private final case class ScriptPartition(rows: Array[InternalRow]) extends InputPartition

/** The rows from a batch of the script on, in real-time mode. */
private final case class RunningPartition(script: String, from: Int) extends InputPartition

private final case class BatchesRead(count: Int) extends PartitionOffset

private object ScriptReaders extends PartitionReaderFactory {
  override def createReader(partition: InputPartition): PartitionReader[InternalRow] =
    partition match {
      case RunningPartition(script, from) => new RunningReader(ScriptSource.find(script), from)
      case script => new ScriptReader(script.asInstanceOf[ScriptPartition].rows)
    }
}

private final class ScriptReader(rows: Array[InternalRow]) extends PartitionReader[InternalRow] {
  private var read = -1

  override def next(): Boolean = { read += 1; read < rows.length }
  override def get(): InternalRow = rows(read)
  override def close(): Unit = ()
}

/** Reads rows until the script ends Spark's batch. */
private final class RunningReader(script: ScriptSource, from: Int) extends ScriptedReader {
  private val batches = LowLatencyClock.getClock.asInstanceOf[TestClock].batches
  private val batchId = TaskContext.get().getLocalProperty(MicroBatchExecution.BATCH_ID_KEY).toLong
  private var taken = from
  private var rows = new ScriptReader(Array.empty)

  override protected def awaitNext(): Boolean = batches.await(batchId, next())

  override def next(): Boolean = rows.next() || script.rows(taken).exists { added =>
    taken += 1
    rows = new ScriptReader(added)
    next()
  }

  override def get(): InternalRow = rows.get()
  override def getOffset: PartitionOffset = BatchesRead(taken)
  override def close(): Unit = ()
}
