package org.apache.spark.sql.eventtide

import org.apache.spark.sql.catalyst.streaming.InternalOutputModes
import org.apache.spark.sql.classic.{DataFrame, StreamingQuery}
import org.apache.spark.sql.execution.streaming.sources.MemorySink
import org.apache.spark.sql.streaming.Trigger
import org.apache.spark.util.ManualClock

/** A streaming query with a scripted clock, and a sink whose rows can be read back.
  *
  * Clock, checkpoint and sink outlive a run, so that the query can be stopped and restarted. The
  * sink takes each batch once, even if the batch is replayed.
  *
  * @param checkpoint
  *   an empty folder, or the checkpoint of an earlier run of the same query
  */
final class TestQuery(
    result: DataFrame,
    outputMode: String,
    checkpoint: String,
    startMs: Long
) {
  private val clock = new TestClock(startMs)
  private val sink = new MemorySink()
  private var running: Option[StreamingQuery] = None
  private var readBatches = -1L
  private var countedBatch = -1L
  private var dropped = 0L
  private var lastWatermarkMs = 0L

  def query: StreamingQuery =
    running.getOrElse(throw new IllegalStateException("the query is not running"))

  def start(availableNow: Boolean): Unit = {
    val trigger = if (availableNow) Trigger.AvailableNow() else Trigger.ProcessingTime(0)
    running = Some(
      result.sparkSession.streams.startQuery(
        userSpecifiedName = None,
        userSpecifiedCheckpointLocation = Some(checkpoint),
        df = result,
        extraOptions = Map.empty,
        sink = sink,
        outputMode = InternalOutputModes(outputMode),
        trigger = trigger,
        triggerClock = clock
      )
    )
  }

  def stop(): Unit = running.foreach { run =>
    lastWatermarkMs = watermarkMs
    run.stop()
    countDropped()
  }

  def nowMs: Long = clock.getTimeMillis()

  def setClock(nowMs: Long): Unit = clock.setTime(nowMs)

  /** Makes the clock jump without any time elapsing, for example to a wrong time and back. */
  def jumpClock(nowMs: Long): Unit = clock.jump(nowMs)

  /** Waits until the query is idle at the current time of its clock. */
  def awaitIdle(): Unit = {
    // The first call may return for a trigger that began before the clock step. The second call
    // waits for a trigger after the step.
    query.processAllAvailable()
    query.processAllAvailable()
    countDropped()
  }

  /** The watermark that Spark will use for the next batch, in milliseconds; 0 before the first one.
    */
  def watermarkMs: Long =
    StreamExecutionAccess.find(result.sparkSession, query.id).fold(lastWatermarkMs)(_.watermarkMs)

  /** The rows that the sink has received since the last call. */
  def newResults(): DataFrame = {
    val rows = sink.dataSinceBatch(readBatches)
    readBatches = sink.latestBatchId.getOrElse(-1L)
    result.sparkSession.createDataFrame(java.util.Arrays.asList(rows: _*), result.schema)
  }

  /** The number of late rows in Spark's progress reports since the last call. */
  def newlyDropped(): Long = {
    countDropped()
    val since = dropped
    dropped = 0
    since
  }

  // Spark keeps a hundred reports, so they are counted incrementally. The report of an idle trigger
  // has the id of a future batch, and no `addBatch` duration.
  private def countDropped(): Unit = query.recentProgress
    .filter(report => report.batchId > countedBatch && report.durationMs.containsKey("addBatch"))
    .foreach { report =>
      dropped += report.stateOperators.map(_.numRowsDroppedByWatermark).sum
      countedBatch = report.batchId
    }

  /** The id of the last batch planned in this run; -1 before the first one. */
  def lastBatchId: Long = running
    .flatMap(query => StreamExecutionAccess.find(result.sparkSession, query.id))
    .flatMap(_.lastPlanned)
    .getOrElse(-1L)
}

/** A clock that a script sets. It can jump without any time elapsing. */
private[eventtide] final class TestClock(startMs: Long) extends ManualClock(startMs) {
  private var jumpedMs = 0L

  /** The elapsed time in milliseconds, without jumps. */
  def elapsedMs: Long = synchronized(getTimeMillis() - jumpedMs)

  def jump(nowMs: Long): Unit = synchronized {
    jumpedMs += nowMs - getTimeMillis()
    setTime(nowMs)
  }
}
