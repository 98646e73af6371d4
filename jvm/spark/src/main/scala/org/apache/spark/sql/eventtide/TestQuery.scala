package org.apache.spark.sql.eventtide

import org.apache.spark.sql.catalyst.streaming.InternalOutputModes
import org.apache.spark.sql.classic.{DataFrame, StreamingQuery}
import org.apache.spark.sql.execution.datasources.v2.LowLatencyClock
import org.apache.spark.sql.execution.streaming.RealTimeTrigger
import org.apache.spark.sql.execution.streaming.sources.{ContinuousMemorySink, MemorySink}
import org.apache.spark.sql.streaming.Trigger
import org.apache.spark.util.{ManualClock, SystemClock}

/** A streaming query with a scripted clock, and a sink whose rows can be read back.
  *
  * Clock, checkpoint and sink outlive a run, so that the query can be stopped and restarted. The
  * sink takes each batch once, even if the batch is replayed.
  *
  * @param checkpoint
  *   an empty folder, or the checkpoint of an earlier run of the same query
  * @param realTime
  *   whether the query runs in real-time mode; then each step is a batch. Spark has one clock for this
  *   mode in a JVM, so that only one such query can run at a time.
  */
final class TestQuery(
    result: DataFrame,
    outputMode: String,
    checkpoint: String,
    startMs: Long,
    realTime: Boolean = false
) {
  private val clock = new TestClock(startMs, realTime)
  private val sink = if (realTime) new ContinuousMemorySink else new MemorySink
  private var running: Option[StreamingQuery] = None
  private var readBatches = -1L
  private var readRows = 0 // in real-time mode
  private var countedBatch = -1L
  private var dropped = 0L
  private var lastWatermarkMs = 0L

  def query: StreamingQuery =
    running.getOrElse(throw new IllegalStateException("the query is not running"))

  def start(availableNow: Boolean): Unit =
    if (availableNow) start(Trigger.AvailableNow(), if (realTime) "append" else outputMode)
    else if (realTime) startRealTime()
    else start(Trigger.ProcessingTime(0), outputMode)

  private def startRealTime(): Unit = {
    LowLatencyClock.setClock(clock)
    clock.batches.beginRun()
    try start(RealTimeTrigger(TestQuery.Endless), outputMode)
    catch { case refused: Throwable => releaseClock(); throw refused }
  }

  private def start(trigger: Trigger, mode: String): Unit = running = Some(
    result.sparkSession.streams.startQuery(
      userSpecifiedName = None,
      userSpecifiedCheckpointLocation = Some(checkpoint),
      df = result,
      extraOptions = Map.empty,
      sink = sink,
      outputMode = InternalOutputModes(mode),
      trigger = trigger,
      triggerClock = clock
    )
  )

  private def releaseClock(): Unit =
    if (LowLatencyClock.getClock eq clock) LowLatencyClock.setClock(new SystemClock)

  def stop(): Unit = running.foreach { run =>
    lastWatermarkMs = watermarkMs
    run.stop()
    releaseClock()
    countDropped()
  }

  def nowMs: Long = clock.getTimeMillis()

  def setClock(nowMs: Long): Unit = clock.setTime(nowMs)

  /** Makes the clock jump without any time elapsing, for example to a wrong time and back. */
  def jumpClock(nowMs: Long): Unit = clock.jump(nowMs)

  /** Waits until the query is idle at the current time of its clock. */
  def awaitIdle(): Unit = {
    if (realTime) awaitBatch() else awaitTriggers()
    countDropped()
  }

  private def awaitBatch(): Unit = {
    clock.batches.next(query.isActive)
    query.exception.foreach(throw _)
  }

  private def awaitTriggers(): Unit = {
    // The first call may return for a trigger that began before the clock step. The second call
    // waits for a trigger after the step.
    query.processAllAvailable()
    query.processAllAvailable()
  }

  /** The watermark that Spark will use for the next batch, in milliseconds; 0 before the first one.
    */
  def watermarkMs: Long =
    StreamExecutionAccess.find(result.sparkSession, query.id).fold(lastWatermarkMs)(_.watermarkMs)

  /** The rows that the sink has received since the last call. */
  def newResults(): DataFrame = {
    val rows = if (realTime) sink.allData.drop(readRows) else sink.dataSinceBatch(readBatches)
    readBatches = sink.latestBatchId.getOrElse(-1L)
    readRows += rows.length
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

object TestQuery {

  /** Whether a query of this class runs in real-time mode. */
  def runsInRealTime: Boolean = LowLatencyClock.getClock.isInstanceOf[TestClock]

  private val Endless = 1000L * 86400 * 365000 // milliseconds: the script ends the batches
}

/** A clock that a script sets. It can jump without any time elapsing.
  *
  * @param endsBatches
  *   whether the query runs in real-time mode, where its batches follow each other directly
  */
final class TestClock private[eventtide] (startMs: Long, endsBatches: Boolean)
    extends ManualClock(startMs) {

  /** The batches of the query in real-time mode. */
  val batches = new ScriptedBatches

  private var jumpedMs = 0L

  override def waitTillTime(targetTime: Long): Long =
    if (endsBatches) getTimeMillis() else super.waitTillTime(targetTime)

  /** The elapsed time in milliseconds, without jumps. */
  private[eventtide] def elapsedMs: Long = synchronized(getTimeMillis() - jumpedMs)

  private[eventtide] def jump(nowMs: Long): Unit = synchronized {
    jumpedMs += nowMs - getTimeMillis()
    setTime(nowMs)
  }
}
