package io.eventtide.spark.source

import java.util.{Collections, Map => JMap, Optional}

import org.apache.spark.SparkContext
import org.apache.spark.sql.connector.read.streaming.{
  Offset,
  PartitionOffset,
  ReadLimit,
  ReportsSourceMetrics,
  SupportsRealTimeMode
}
import org.apache.spark.sql.connector.read.{InputPartition, PartitionReaderFactory}
import org.apache.spark.sql.eventtide.StreamExecutionAccess
import org.apache.spark.sql.execution.streaming.runtime.LongOffset

import io.eventtide.spark.query.run.{QueryWatermark, QueryWatermarks}
import io.eventtide.spark.query.ui.QueryTab
import io.eventtide.spark.spi.{NumberedStream, TickSource}

/** The clock of one run of a query; its offset is the number of ticks.
  *
  * Spark polls every source for its latest offset on each trigger. It runs a batch if any offset
  * differs from the last offset that was read. So the offset changes only when the clock would
  * advance the watermark. It stays null, which means no data yet, until the first tick.
  *
  * Every watermark node adds a clock, because Spark refuses a checkpoint whose number of sources
  * has changed. The first clock that opens ticks for the query. All clocks check for steps of the
  * machine's clock: Spark polls each one after the source of its input, and takes the batch's
  * timestamp after the last one.
  */
private[spark] final class ClockStream(
    query: QueryWatermark,
    context: SparkContext,
    leads: Boolean
) extends NumberedStream
    with SupportsRealTimeMode
    with TickSource
    with ReportsSourceMetrics {

  // The time at which an available-now run began; None in any other run.
  private var begunMs: Option[Long] = None

  private var isRealTime = false
  private var begun: Offset = initialOffset // the offset of the last batch that was begun

  override def prepareForRealTimeMode(): Unit = isRealTime = true

  override def prepareForTriggerAvailableNow(): Unit = begunMs = Some(query.nowMs)

  override def latestOffset(start: Offset, limit: ReadLimit): Offset = {
    val reached = numberOf(start)
    if (!leads) query.checkClock()
    if (isRealTime) beginRealTime(start)
    else if (leads && begunMs.fold(query.tick())(query.lastTick)) LongOffset(reached + 1)
    else if (reached == 0) null
    else start
  }

  // The next batch runs anyway, but begins from the ledger. In this mode Spark wants an offset.
  private def beginRealTime(start: Offset): Offset = {
    if (leads) query.tick(): Unit
    begun = start
    start
  }

  override def mergeOffsets(offsets: Array[PartitionOffset]): Offset = begun

  override def initialOffset: Offset = LongOffset(0L)

  override def stop(): Unit = if (leads) {
    QueryWatermarks.detach(query)
    QueryTab.recordEnd(context, query.runId)
  }

  override def planInputPartitions(start: Offset, end: Offset): Array[InputPartition] = Array.empty

  override def planInputPartitions(start: Offset): Array[InputPartition] = Array.empty

  override def createReaderFactory(): PartitionReaderFactory =
    _ => throw new UnsupportedOperationException("the clock has no rows")

  override def metrics(latestConsumed: Optional[Offset]): JMap[String, String] =
    if (leads) query.report.metrics
    else Collections.emptyMap()

  override def toString: String = "EventtideClock"
}

private object ClockStream {

  /** Opens a clock on the thread of the query that is starting.
    *
    * It runs before the query's first offset is written. A plan that is invalid, or does not match
    * the checkpoint, fails here.
    */
  def open(): ClockStream = {
    val starting = StreamExecutionAccess.starting()
    val query = QueryWatermarks.attach(starting)
    val context = starting.session.sparkContext
    QueryTab.attach(context)
    new ClockStream(query, context, leads = query.claimClock())
  }
}
