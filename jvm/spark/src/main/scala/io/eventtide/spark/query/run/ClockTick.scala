package io.eventtide.spark.query.run

import io.eventtide.spark.options.EventTimes

/** The clock's part in each trigger: it may request a batch and raise the watermark for it.
  *
  * Called whenever Spark looks for new data, on idle triggers too. The raised watermark applies to
  * the requested batch; Spark writes it to the offset log.
  */
private[run] final class ClockTick(run: RunState, restore: Restore, recorder: LedgerRecorder) {
  import PartitionBacklogs.Backlogs
  import run._

  private var lastTicked = false

  /** Whether the clock requests a batch. If it does, the batch's watermark is already raised.
    *
    * While a caller waits for the query to have no more work, as in `processAllAvailable`, each
    * tick is followed by a trigger without a tick.
    */
  def tick(): Boolean = {
    val now = begin(query.nowMs * 1000)
    pollSources(now)
    val isRequested = locked {
      timers.pollStartupBatch() ||
      (mayTick && (isDue(now) && advanceTo(now) || pollProcessingTimer(now)))
    }
    recorder.beforeBatch(isRequested)
    isRequested
  }

  /** As `tick`, for a run that reads the available data and ends. The clock ticks once, after the
    * data. If the run drains, the tick raises the watermark to the highest possible value.
    *
    * The run ends with the first trigger that finds nothing. For sources that cannot report the end
    * of their data, a batch without a tick is requested to detect it.
    *
    * @param nowMs
    *   the clock at the start of the run; the tick is at that time, or at the time of the last
    *   batch if it is later
    */
  def lastTick(nowMs: Long): Boolean = {
    begin(query.nowMs * 1000): Unit
    val now = endOfData(nowMs)
    pollSources(now)
    if (locked(hold.isHolding && lastBatch.isEmpty)) removeGonePartitions(now)
    val isRequested = locked {
      val isLast = if (drain.drains) !drain.isRaised else !lastTicked && isDue(now)
      timers.pollStartupBatch() || (isLast && (!hasNoMoreData || advanceAtLast(now)))
    }
    recorder.beforeBatch(isRequested)
    isRequested
  }

  // The end of that millisecond. Time that a paused batch has skipped is not credited up to it.
  private def endOfData(nowMs: Long): Long = {
    val lastBatchMicros = lastBatch.fold(Long.MinValue)(_.batch.clockMicros)
    math.max(clock.at(nowMs * 1000), lastBatchMicros) + 999
  }

  /** Begins the run if it has not begun yet, and returns the time by the query's clock. */
  private def begin(nowMicros: Long): Long = {
    checkClock()
    restore.ifNotDone(nowMicros)
    locked(correctClock(nowMicros))
  }

  // Runs before the next batch is decided on. The sources are queried without the lock, so that
  // reports do not wait for a slow broker. They are queried because a partition that is idle by
  // older offsets may have rows that Spark reads in this same batch.
  private def pollSources(now: Long): Unit = {
    val queriesSources = locked {
      pollPartitions(now)
      !hold.isHolding && isDue(now)
    }
    val latest = if (queriesSources) backlogs.latestChanged else Map.empty[Int, Backlogs]
    locked(applyBacklogs(now, latest))
  }

  private def pollPartitions(now: Long): Unit = {
    if (!hold.isHolding) applyBacklogs(now, backlogs.changed)
    val batchSince = ticks.batchSince(query.lastPlanned)
    val isOver = hold.poll(batchSince, tookAll)
    if (isOver) {
      ticks.reschedule()
      guarded(publish())
    } else publishFirst()
  }

  private def applyBacklogs(now: Long, partitions: Map[Int, Backlogs]): Unit = {
    inputs.updateBacklogs(now, partitions)
    inputs.retainPartitions(now, partitions)
    if (partitions.nonEmpty) ticks.reschedule()
  }

  // Removes partitions that no longer exist: there may be no batch that detects them. The removal
  // itself does not credit the time that has passed.
  private def removeGonePartitions(now: Long): Unit = {
    val latest = backlogs.latest
    locked {
      inputs.updateBacklogs(now, latest)
      inputs.retainPartitions(Long.MinValue, latest)
      if (latest.nonEmpty) ticks.reschedule()
    }
  }

  private def tookAll: Boolean = query.sourcesCaughtUp(isClock).contains(true)

  // A batch whose plan lost the watermark node did not end in `BatchEnd`, nor will the next one.
  // Rows after a drain are always late, so a drain requires a batch that read nothing.
  private def hasNoMoreData: Boolean =
    lastBatch.map(_.batchId) != query.lastPlanned || lastBatch.exists(last =>
      last.readNothing || (!drain.drains && tookAll)
    )

  private def isDue(now: Long): Boolean = ticks.due(now)(timers.awaits.flatMap(inputs.nextDue))

  private def mayTick: Boolean = !hold.isHolding && ticks.mayTick(query.isAwaited)

  private def pollProcessingTimer(now: Long): Boolean = {
    val isOver = timers.pollProcessingTimer(now)
    if (isOver) ticks.ticked()
    isOver
  }

  private def advanceAtLast(now: Long): Boolean = {
    lastTicked = true
    hold.end()
    if (drain.drains) raiseTo(EventTimes.EndMs) else advanceTo(now)
  }

  private def advanceTo(now: Long): Boolean = {
    val spark = inputs.emittedAt(now).map { micros =>
      query.combined(micros / 1000, inputs.positions.contains)
    }
    val moves = spark.exists(_ > query.watermarkMs)
    if (moves) raiseTo(spark.get) else ticks.postpone(now)
    moves
  }

  private def raiseTo(watermarkMs: Long): Boolean = {
    query.raiseWatermark(watermarkMs)
    ticks.ticked()
    true
  }
}
