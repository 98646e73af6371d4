package org.apache.spark.sql.eventtide

import org.apache.spark.sql.catalyst.streaming.InternalOutputModes
import org.apache.spark.sql.classic.{DataFrame, StreamingQuery}
import org.apache.spark.sql.execution.streaming.sources.MemorySink
import org.apache.spark.sql.streaming.Trigger
import org.apache.spark.util.ManualClock

/** A streaming query with a clock that a script sets, and a sink whose rows can be read back.
  *
  * Clock, checkpoint and sink outlive a run, so that the query can be stopped and started again. The
  * sink takes each batch once, also when it is run again.
  *
  * @param checkpoint
  *   an empty folder, or one that an earlier run of the same query wrote
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

  /** Sets the clock wrongly, or right again: no time passes. */
  def jumpClock(nowMs: Long): Unit = clock.jump(nowMs)

  /** Waits until the query has nothing left to do at the present time of its clock. */
  def settle(): Unit = {
    // The first may return for a trigger that had begun before the step; the second has seen it.
    query.processAllAvailable()
    query.processAllAvailable()
    countDropped()
  }

  /** The watermark that Spark will use for the next batch, in milliseconds; 0 before there is one. */
  def watermarkMs: Long =
    StreamExecutionAccess.find(result.sparkSession, query.id).fold(lastWatermarkMs)(_.watermarkMs)

  /** The rows that the sink took since the last call. */
  def newResults(): DataFrame = {
    val rows = sink.dataSinceBatch(readBatches)
    readBatches = sink.latestBatchId.getOrElse(-1L)
    result.sparkSession.createDataFrame(java.util.Arrays.asList(rows: _*), result.schema)
  }

  /** How many late rows Spark's progress has counted since the last call. */
  def newlyDropped(): Long = {
    countDropped()
    val since = dropped
    dropped = 0
    since
  }

  // Spark keeps a hundred reports, so they are counted step by step. An idle trigger's report has
  // the id of a batch that is still to come, and no time spent on adding one.
  private def countDropped(): Unit = query.recentProgress
    .filter(report => report.batchId > countedBatch && report.durationMs.containsKey("addBatch"))
    .foreach { report =>
      dropped += report.stateOperators.map(_.numRowsDroppedByWatermark).sum
      countedBatch = report.batchId
    }

  /** The id of the last batch that was begun in this run; -1 before there is one. */
  def lastBatchId: Long = running
    .flatMap(query => StreamExecutionAccess.find(result.sparkSession, query.id))
    .flatMap(_.lastPlanned)
    .getOrElse(-1L)
}

/** A clock that a script sets; it may jump, and no time passes. */
private[eventtide] final class TestClock(startMs: Long) extends ManualClock(startMs) {
  private var jumpedMs = 0L

  /** How much time has passed. */
  def elapsedMs: Long = synchronized(getTimeMillis() - jumpedMs)

  def jump(nowMs: Long): Unit = synchronized {
    jumpedMs += nowMs - getTimeMillis()
    setTime(nowMs)
  }
}
