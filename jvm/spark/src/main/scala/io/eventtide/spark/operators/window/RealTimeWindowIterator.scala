package io.eventtide.spark.operators.window

import org.apache.spark.sql.eventtide.TimedRows
import org.apache.spark.sql.execution.streaming.state.StateStore

import io.eventtide.kernel.time.Clamped
import io.eventtide.spark.operators.{TaskClock, WatermarkStart}
import io.eventtide.spark.spi.{NextTimer, TaskInputState}

/** Processes one partition in real-time mode, where a batch lasts for minutes: each row by itself,
  * with its results. Timers of the clock fire while no row arrives. The state is committed at the end
  * of the batch.
  *
  * @param marked
  *   the query's watermark and the ordinal of the column with markers, if it closes the windows
  */
private[window] final class RealTimeWindowIterator(
    task: WindowTaskSpec,
    store: StateStore,
    input: TimedRows,
    metrics: WindowMetrics,
    marked: Option[MarkedWatermark]
) extends StreamingWindowIterator(task, store, input, metrics) {
  private val closed = marked.map(_ => new DueWindows(task, state.byEnd, windows, state.closed))
  private val expired = new ExpiredTimers(state.byClock)
  private var reportedAt = System.nanoTime
  groups.foreach(_.readDeadlines())

  override protected def openNext(): Boolean = {
    if (System.nanoTime - reportedAt >= RealTimeWindowIterator.ReportInterval) {
      reportSoFar()
      reportedAt = System.nanoTime
    }
    openNextKey()
  }

  private def openNextKey(): Boolean =
    if (others.hasNext) {
      openOther(others.next())
      true
    } else if (hasGroupTimer) {
      openDue(groups.get.next())
      true
    } else if (closed.exists(_.hasNext)) {
      openDue(closed.get.next())
      true
    } else if (hasExpiredTimer) {
      openDue(expired.next())
      true
    } else if (!input.await(0)) {
      awaitInput()
      true
    } else if (marked.exists(_.isNext)) {
      marked.get.take()
      true
    } else {
      groups.foreach(_.beginRow())
      super.openNext()
    }

  // What the clock is due comes before the row that ends the wait.
  private def awaitInput(): Unit = {
    if (!input.await(untilTimer) && input.silentMicros >= RealTimeWindowIterator.EndOfBacklog)
      catchUp()
    marked.foreach(_.advance())
  }

  private def hasGroupTimer: Boolean = groups.exists { all =>
    all.endRow()
    if (task.batch.isCredited) all.advanceByClock()
    all.hasNext
  }

  override protected def inputState: Option[TaskInputState] =
    marked.map(_.state(store.id.partitionId))

  private def catchUp(): Unit = task.batch.clock match {
    case running: TaskClock.Running => running.catchUp()
    case _ => ()
  }

  private def hasExpiredTimer: Boolean =
    task.hasProcessingTimers && task.batch.isCredited && expired.hasNext(task.batch.now)

  private def untilTimer: Long =
    if (!task.batch.isCredited) RealTimeWindowIterator.LongestWait
    else {
      val ofKeys = if (task.hasProcessingTimers) state.byClock.lowest else NextTimer.Never
      val ofGroups = groups.fold(NextTimer.Never)(_.deadline)
      val ofQuery = marked.fold(NextTimer.Never)(_.advancesAt)
      val next = ofKeys.min(ofGroups).min(ofQuery)
      val left = Clamped.subtract(next, task.batch.now)
      math.max(0, math.min(RealTimeWindowIterator.LongestWait, left))
    }
}

private[window] object RealTimeWindowIterator {

  /** @param start
    *   the query's watermark before the batch, if it closes the windows
    * @param markers
    *   the ordinal of the column with its markers
    */
  def apply(
      task: WindowTaskSpec,
      store: StateStore,
      rows: TimedRows,
      metrics: WindowMetrics,
      start: Option[WatermarkStart],
      markers: Int
  ): RealTimeWindowIterator = start.map(_.open()) match {
    case Some(watermark) =>
      val running = task.copy(batch = task.batch.copy(watermark = watermark))
      val marked = new MarkedWatermark(running, watermark, rows, markers)
      new RealTimeWindowIterator(running, store, rows, metrics, Some(marked))
    case None => new RealTimeWindowIterator(task, store, rows, metrics, None)
  }

  private val LongestWait = 250000L // micros; a clock that is set forward is seen after it

  /** The backlog has been read once no row has arrived for so long, in microseconds. */
  private val EndOfBacklog = 1000000L

  // Nanoseconds. Spark sends the reports with the heartbeat of the executor, by default each 10 s.
  private val ReportInterval = 1000000000L
}
