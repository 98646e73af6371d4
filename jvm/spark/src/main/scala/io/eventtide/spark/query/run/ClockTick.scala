package io.eventtide.spark.query.run

import io.eventtide.spark.options.EventTimes

/** What the clock does on each trigger: it may raise the watermark, by a batch of its own.
  *
  * Called whenever Spark looks for new data, on idle triggers too. The raised watermark is that of the
  * batch that is asked for, by way of the offset log.
  */
private[run] final class ClockTick(run: RunState, restore: Restore, recorder: LedgerRecorder) {
  import PartitionBacklogs.Backlogs
  import run._

  private var lastTicked = false

  /** Whether the clock asks for a batch; if so, its watermark has been raised already.
    *
    * While somebody waits for the query to be quiet, as `processAllAvailable` does, there is a trigger
    * without a tick after each.
    */
  def tick(): Boolean = {
    val now = begin(query.nowMs * 1000)
    look(now)
    val asks = locked {
      timers.pollStartupBatch() ||
      (mayTick && (isDue(now) && advanceTo(now) || pollProcessingTimer(now)))
    }
    recorder.beforeBatch(asks)
    asks
  }

  /** As `tick`, for a run that reads what there is and ends: one tick, after the data. If it drains, it
    * is to the highest watermark that there is.
    *
    * The run ends with the first trigger that finds nothing, and a source may not be able to say
    * that it has no more. Then a batch is asked for to find out, without a tick.
    *
    * @param nowMs
    *   the clock when the run began; the tick is at that time, or that of the last batch
    */
  def lastTick(nowMs: Long): Boolean = {
    begin(query.nowMs * 1000): Unit
    val now = endOfData(nowMs)
    look(now)
    if (locked(hold.holding && lastBatch.isEmpty)) forgetGone(now)
    val asks = locked {
      val isLast = if (drain.drains) !drain.isRaised else !lastTicked && isDue(now)
      timers.pollStartupBatch() || (isLast && (!dataIsOver || advanceAtLast(now)))
    }
    recorder.beforeBatch(asks)
    asks
  }

  // The end of that millisecond: what a held batch has skipped counts no more until it.
  private def endOfData(nowMs: Long): Long = {
    val ofLastBatch = lastBatch.fold(Long.MinValue)(_.batch.clockMicros)
    math.max(clock.at(nowMs * 1000), ofLastBatch) + 999
  }

  /** Begins the run, if it has not yet; what the query's clock shows. */
  private def begin(nowMicros: Long): Long = {
    steps.look(query.nowMs, query.elapsedMs)
    restore.ifNotDone(nowMicros)
    locked(correctClock(nowMicros))
  }

  // Before the next batch is decided on. A broker may take its time, for which no report waits. A
  // partition that is idle as far as is known may have rows that Spark reads in this very batch.
  private def look(now: Long): Unit = {
    val asksSources = locked {
      lookAround(now)
      !hold.holding && isDue(now)
    }
    val latest = if (asksSources) backlogs.latestNews else Map.empty[Int, Backlogs]
    locked(lookAtPartitions(now, latest))
  }

  private def lookAround(now: Long): Unit = {
    if (!hold.holding) lookAtPartitions(now, backlogs.news)
    val batchSince = ticks.batchSince(query.lastPlanned)
    val isOver = hold.look(batchSince, tookAll)
    if (isOver) {
      ticks.reschedule()
      guarded(publish())
    } else publishFirst()
  }

  private def lookAtPartitions(now: Long, partitions: Map[Int, Backlogs]): Unit = {
    inputs.updateBacklogs(now, partitions)
    inputs.retainPartitions(now, partitions)
    if (partitions.nonEmpty) ticks.reschedule()
  }

  // There may be no batch that sees it. That the clock moves, does not count by this.
  private def forgetGone(now: Long): Unit = {
    val latest = backlogs.latest
    locked {
      inputs.updateBacklogs(now, latest)
      inputs.retainPartitions(Long.MinValue, latest)
      if (latest.nonEmpty) ticks.reschedule()
    }
  }

  private def tookAll: Boolean = query.sourcesCaughtUp(isClock).contains(true)

  // A batch whose plan lost the watermark node did not end here, and the next one will not either. What
  // comes after a drain is late for ever: that sources had nothing more has to be seen.
  private def dataIsOver: Boolean =
    lastBatch.map(_.batchId) != query.lastPlanned || lastBatch.exists(last =>
      last.readNothing || (!drain.drains && tookAll)
    )

  private def isDue(now: Long): Boolean = ticks.due(now)(timers.awaits.flatMap(inputs.nextDue))

  private def mayTick: Boolean = !hold.holding && ticks.mayTick(query.isAwaited)

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
