package io.eventtide.spark.query.run

import java.util.UUID

import scala.util.Try
import scala.util.control.NonFatal

import org.apache.spark.sql.connector.read.streaming.SparkDataStream
import org.apache.spark.sql.eventtide.{BatchInfo, StreamExecutionAccess}
import org.apache.spark.sql.execution.streaming.operators.stateful.{
  EventTimeStats => SparkEventTimeStats
}

import io.eventtide.spark.EventtideException
import io.eventtide.spark.checkpoint.{BatchLedger, LedgerEntry, RunEpoch}
import io.eventtide.spark.latelog.{LateLog, LateRows}
import io.eventtide.spark.options.{EventTimes, WatermarkSettings, WindowSettings}
import io.eventtide.spark.query.monitor.{
  MetricsSnapshot,
  Outlook,
  QueryMetrics,
  WatermarkMonitor,
  WatermarkReport
}
import io.eventtide.spark.spi.{BatchEventTimeStats, TickSource}

/** The watermark of one run of a streaming query: the policies of all its inputs, and their state.
  *
  * The watermark moves at two moments, both of which Spark writes down:
  *
  *   - at the end of a batch that had rows (`finish`), for the next one, by way of the commit log;
  *   - before a batch that the clock asks for (`tick`), for that batch itself, by way of the offset
  *     log.
  *
  * State is a function of the ledger's last entry, of the rows of the batch and of the batch's own
  * timestamp, so that a batch that is run again ends where it did before. A batch without rows never
  * moves the watermark: what an operator does to clean up would otherwise cause the next such batch.
  *
  * All of it runs on the query's thread, except reports, which any thread may ask for. So the lock
  * guards what reports read, and is held while that changes, but never while a file of the checkpoint is
  * read or written: a report waits for no file system. While the files of a batch are written, it is on
  * that batch.
  */
private[spark] final class QueryWatermark(
    query: StreamExecutionAccess,
    own: QueryInputs,
    ledger: BatchLedger,
    late: LateRows,
    due: WindowTimers,
    watch: WatermarkMonitor,
    steps: ClockSteps,
    epoch: RunEpoch
) {
  import PartitionBacklogs.Backlogs

  def queryId: UUID = query.id
  def runId: UUID = query.runId
  def nowMs: Long = query.nowMs
  def isActive: Boolean = query.isActive
  def nameConflict(): Unit = WriteConflict.name(query)
  def has(nodeId: UUID): Boolean = inputs.positions.contains(nodeId) || late.has(nodeId)

  private var inputs = own // but for a batch that is run again, as it was begun
  private val drained = new DrainedQuery(query)
  private val catchUp = new RestartHold(own.holdOnRestart)
  private val clock = new QueryClock
  private val ticks = new TickSchedule
  private val backlogs = new SourceBacklogs(query, inputs.ofPartitions)
  private var claimed = false
  private var lastTicked = false
  private var restored = false
  private var runAgain = Option.empty[Long] // the batch that a run before this one began
  private var mayBeUnread = false // that batch, by its sink
  private var recorded: Option[RecordedState] = None // of the last entry
  private var batch: Option[BatchWatermark] = None
  private var finished: Option[LastBatch] = None
  private var isPublished = false

  private[query] def settingsOf(nodeId: UUID): Option[WatermarkSettings] =
    synchronized(inputs.settingsOf(nodeId))

  private[query] val metrics = new QueryMetrics(query, due.hasWindows)

  /** True for the first clock that opens: it ticks for the query. */
  def claimClock(): Boolean = synchronized {
    val first = !claimed
    claimed = true
    first
  }

  /** Ends the query if the machine's clock has gone forward by itself, and a policy follows it. */
  def lookAtClock(): Unit = steps.look(query.nowMs, query.elapsedMs)

  private[query] val bounds = new BroadcastBounds(query.session.sparkContext)

  private[query] def isCredited: Boolean = synchronized(!catchUp.holding)

  /** The batch that Spark is planning; the same object for all nodes of the batch. */
  def planned(info: BatchInfo): BatchWatermark =
    synchronized(batch.filter(_.info == info)).getOrElse {
      epoch.check() // now that the batch is begun
      if (!restored) rerun(info.batchId)
      drained.check(info, finished.map(_.batch.info))
      plan(info)
    }

  private def plan(info: BatchInfo): BatchWatermark = synchronized {
    due.planned()
    correctClock(info.timestampMs * 1000): Unit
    val next = new BatchWatermark(this, info, clock.saved.aheadMicros)
    batch = Some(next)
    next
  }

  private[query] def openLate(
      nodeId: UUID,
      batchId: Long,
      watermarkMicros: Option[Long]
  ): LateLog = late.open(nodeId, batchId, watermarkMicros)

  /** Runs a batch for what its tasks report. A sink that has the results of a batch that is run again,
    * by itself or by what its user wrote, does not ask for them.
    */
  private[query] def runIfUnread(ended: BatchWatermark): Unit = {
    val asks = synchronized(mayBeUnread && isRunAgain(ended.info.batchId))
    val matters = due.hasWindows || query.namesState || !query.readNothing(isClock)
    if (asks && ended.isUnread && matters) query.runBatch()
    synchronized { mayBeUnread = false }
  }

  // Whether a batch was begun by a run before this one.
  private def isRunAgain(batchId: Long): Boolean = synchronized(runAgain.contains(batchId))

  /** Whether a step of the watermark is worth a batch to a window though it closes nothing. */
  private[query] def countsEveryStep(window: Int): Boolean = due.countsEveryStep(window)

  private[query] def laggingKeys(window: Int): Map[Int, Seq[Array[Byte]]] =
    synchronized(due.laggingKeys(window))

  /** A window in a batch. */
  private[query] def settings(window: Int, batchId: Long): WindowSettings =
    synchronized(due.settings(window, isRunAgain(batchId)))

  /** Ends a batch: credits its rows and its time, writes what has to be there before it is
    * committed, and says the watermark.
    */
  private[query] def finish(ended: BatchWatermark): SparkEventTimeStats = {
    val rows = synchronized(inputs.onTime(ended.rows(inputs.positions), ended.lowestOnTime))
    val hadRows = rows.values.exists(!_.isEmpty)
    val counts = hadRows || synchronized(!catchUp.holding)
    val left = if (counts) leftAfter(ended) else None
    orByOwn(ended.info.batchId)(synchronized {
      clock.passed(ended.clockMicros)
      if (ended.info.watermarkMs > 0) inputs.raise(ended.watermarkMicros, ended.clockMicros)
      inputs.refuse(rows)
      if (counts) observe(ended.clockMicros, rows, left)
      if (hadRows) inputs.emit(ended.clockMicros)
      take(ended, rows)
    })
    write(ended)
    tellOwner(ended.clockMicros, hadRows || rows.values.exists(_.refused > 0))
    synchronized(stats(rows.values.filterNot(_.isEmpty).toSeq))
  }

  // A batch that has too many substreams for the run that began it has come to no result by the settings
  // of that run. So it ends by those of this one.
  private def orByOwn(batchId: Long)(end: => Unit): Unit =
    try end
    catch {
      case refused: EventtideException
          if refused.condition == QueryInput.TooMany && (inputs ne own) =>
        val entries = ledger.read(below = batchId)
        synchronized {
          inputs = own
          inputs.restore(entries)
          inputs.correct(clock.saved.aheadMicros)
        }
        end
    }

  // What sources have left after a batch; None where one cannot say. Where silence decides something
  // they are asked once more, while reports may be had: what they have said is older than the batch's
  // own time. What they said to the first run of a batch, nobody knows any more.
  private def leftAfter(ended: BatchWatermark): Option[Map[Int, Backlogs]] = {
    val asks = synchronized {
      isRunAgain(ended.info.batchId) ||
      (!catchUp.holding && inputs.isSilenceUpTo(ended.clockMicros))
    }
    if (asks) Try(backlogs.latest).toOption else Some(backlogs.news)
  }

  private def take(ended: BatchWatermark, rows: Map[Int, BatchEventTimeStats]): Unit = {
    late.take(ended.lateLogs)
    due.take(ended.nextDue, isRunAgain(ended.info.batchId))
    ticks.reschedule()
    finished = Some(LastBatch(ended, rows, query.readNothing(isClock)))
  }

  private def write(ended: BatchWatermark): Unit = {
    val isAgain = isRunAgain(ended.info.batchId)
    epoch.check()
    if (isAgain) epoch.checkUncommitted(ended.info.batchId)
    late.write(ended.info.batchId, ended.nowMicros)
    if (!steps.isDoubtful) late.forget(ended.info.batchId, ended.nowMicros)
    if (!(isAgain && due.wasBegunByOthers)) bounds.take(ended.boundsReported)
    val whole = ledger.wantsWhole || !recorded.exists(_.isOf(clock))
    write(ended.info.batchId, whole, isCommitted = false)
  }

  private def tellOwner(now: Long, hadRows: Boolean): Unit = telling {
    if (hadRows || late.counts.batch.nonEmpty)
      watch.ended(now, report, inputs.ideal, late.lateness)
    watch.counted(inputs.limits)
    publish()
  }

  // Nothing that is only told may stop the query.
  private def telling(tell: => Unit): Unit =
    try tell
    catch { case NonFatal(failure) => watch.failed(failure) }

  private def publish(): Unit = {
    isPublished = true
    metrics.publish(MetricsSnapshot(report, due.openKeys, ledger.bytes))
  }

  private def stats(rows: Seq[BatchEventTimeStats]): SparkEventTimeStats = inputs.emitted match {
    case Some(micros) =>
      val ms = micros / 1000
      val lowest = rows.map(_.min / 1000).minOption.getOrElse(ms)
      SparkEventTimeStats(max = ms, min = math.min(lowest, ms), avg = ms.toDouble, count = 1)
    case None => SparkEventTimeStats.zero
  }

  /** Whether the clock asks for a batch; if so, its watermark has been raised already.
    *
    * Called whenever Spark looks for new data, on idle triggers too. While somebody waits for the
    * query to be quiet, as `processAllAvailable` does, there is a trigger without a tick after each.
    */
  def tick(): Boolean = {
    val now = begin(query.nowMs * 1000)
    look(now)
    val asks = synchronized {
      due.takeOwed() || (mayTick && (isDue(now) && advanceTo(now) || takeOverdue(now)))
    }
    record(asks)
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
    // The end of that millisecond: what a held batch has skipped, counts no more until it.
    begin(query.nowMs * 1000): Unit
    val now =
      math.max(clock.at(nowMs * 1000), finished.fold(Long.MinValue)(_.batch.clockMicros)) + 999
    look(now)
    if (synchronized(catchUp.holding && finished.isEmpty)) forgetGone(now)
    val asks = synchronized {
      val isLast = if (drained.drains) !drained.isRaised else !lastTicked && isDue(now)
      due.takeOwed() || (isLast && (!dataIsOver || advanceAtLast(now)))
    }
    record(asks)
    asks
  }

  private def advanceAtLast(now: Long): Boolean = {
    lastTicked = true
    catchUp.end()
    if (drained.drains) raiseTo(EventTimes.EndMs) else advanceTo(now)
  }

  // Before the next batch is decided on. A broker may take its time, for which no report waits. A
  // partition that is idle as far as is known may have rows that Spark reads in this very batch.
  private def look(now: Long): Unit = {
    val asksSources = synchronized {
      lookAround(now)
      !catchUp.holding && isDue(now)
    }
    val latest = if (asksSources) backlogs.latestNews else Map.empty[Int, Backlogs]
    synchronized(lookAtPartitions(now, latest))
  }

  // There may be no batch that sees it. That the clock moves, does not count by this.
  private def forgetGone(now: Long): Unit = {
    val latest = backlogs.latest
    synchronized {
      inputs.tell(now, latest)
      inputs.keepOnly(Long.MinValue, latest)
      if (latest.nonEmpty) ticks.reschedule()
    }
  }

  private def lookAround(now: Long): Unit = {
    if (!catchUp.holding) lookAtPartitions(now, backlogs.news)
    val batchSince = ticks.batchSince(query.lastPlanned)
    val isOver = catchUp.look(batchSince, tookAll)
    if (isOver) ticks.reschedule()
    if (isOver || !isPublished) telling(publish())
  }

  private def observe(
      now: Long,
      rows: Map[Int, BatchEventTimeStats],
      left: Option[Map[Int, Backlogs]]
  ): Unit = {
    left match {
      case Some(partitions) => inputs.tell(now, partitions)
      case None => inputs.assumeBacklogs(now, backlogs.assumed)
    }
    inputs.observe(now, rows, credited = !catchUp.holding)
    inputs.keepOnly(now, left.getOrElse(Map.empty), rows)
  }

  private def lookAtPartitions(now: Long, partitions: Map[Int, Backlogs]): Unit = {
    inputs.tell(now, partitions)
    inputs.keepOnly(now, partitions)
    if (partitions.nonEmpty) ticks.reschedule()
  }

  private def isClock(source: SparkDataStream): Boolean = source.isInstanceOf[TickSource]

  private def tookAll: Boolean = query.sourcesCaughtUp(isClock).contains(true)

  // A batch whose plan lost the watermark node did not end here, and the next one will not either. What
  // comes after a drain is late for ever: that sources had nothing more has to be seen.
  private def dataIsOver: Boolean =
    finished.map(_.batchId) != query.lastPlanned || finished.exists(last =>
      last.readNothing || (!drained.drains && tookAll)
    )

  private def isDue(now: Long): Boolean = ticks.due(now)(due.awaits.flatMap(inputs.nextDue))

  private def mayTick: Boolean = !catchUp.holding && ticks.mayTick(query.isAwaited)

  private def takeOverdue(now: Long): Boolean = {
    val overdue = due.takeOverdue(now)
    if (overdue) ticks.ticked()
    overdue
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

  // Spark has begun a batch in an earlier run, and runs it again before it looks for new data.
  private def rerun(batchId: Long): Unit = {
    val entries = restore(batchId, isBegun = true)
    synchronized {
      runAgain = Some(batchId)
      mayBeUnread = true
      catchUp.rerun(wasHeld = entries.last.held)
    }
    if ((inputs ne own) && inputs.settings != entries.head.settings) rewrite(entries.last)
  }

  // This run judges rows that the run which began the batch has refused. If the batch has to be run once
  // more, by a third run, that one has to judge them alike. The driver that began the batch may still be
  // at it, and build on the entry as it was.
  private def rewrite(last: LedgerEntry): Unit = {
    val entry = synchronized {
      last.copy(after = None, inputs = inputs.save(whole = true), settings = inputs.settings)
    }
    ledger.write(entry, isCommitted = false)
  }

  /** Begins the run, if it has not yet; what the query's clock shows. */
  private def begin(nowMicros: Long): Long = {
    lookAtClock()
    if (!restored) start(nowMicros)
    synchronized(correctClock(nowMicros))
  }

  // Whatever comes next goes by the corrected clock, which the ledger then has.
  private def correctClock(nowMicros: Long): Long = {
    clock.correct(nowMicros).foreach { by =>
      inputs.correct(clock.saved.aheadMicros)
      ticks.reschedule()
      telling(watch.clockSetBack(by, nowMicros))
    }
    clock.at(nowMicros)
  }

  private def start(now: Long): Unit =
    if (query.nextBatchId > 0) {
      restore(query.nextBatchId, isBegun = false): Unit
    } else {
      ledger.look()
      late.restore(below = 0, onTime = 0)
      synchronized {
        inputs.begin(now)
        clock.passed(now)
        restored = true
      }
    }

  private def restore(next: Long, isBegun: Boolean): Seq[LedgerEntry] = {
    val entries = ledger.restore(below = next)
    drained.check(entries.last, isBegun)
    if (due.hasWindows) entries.last.checkState()
    late.restore(below = next, entries.last.rowsOnTime)
    synchronized {
      val begunBy = entries.head.settings
      if (isBegun && begunBy != own.settings) inputs = own.inBatchBegunBy(begunBy)
      inputs.restore(entries)
      clock.restore(entries.last.clock)
      due.restore(entries.last.due, query.watermarkMs)
      restored = true
    }
    entries
  }

  // What the next batch starts from has to be in the ledger before Spark writes its offsets, in an
  // entry of this run's own: of a run before it, which may not have ended, nothing comes after that.
  // Whether the sources have rows for that batch is not known here, so that the epoch is looked at now
  // and then as well.
  private def record(asks: Boolean): Unit = {
    val last = query.nextBatchId - 1
    val isNew = !recorded.contains(recordOf(last))
    if (isNew || asks) epoch.check() else epoch.checkOnceASecond(query.elapsedMs)
    if (isNew) write(last, whole = true, isCommitted = true)
  }

  private def write(batchId: Long, whole: Boolean, isCommitted: Boolean): Unit = {
    val entry = synchronized(entryOf(batchId, whole))
    ledger.write(entry, isCommitted)
    synchronized {
      recorded = Some(recordOf(batchId))
      if (inputs ne own) handOver(entry)
    }
  }

  private def entryOf(batchId: Long, whole: Boolean): LedgerEntry = {
    val after = if (whole) None else ledger.last
    LedgerEntry(
      batchId,
      after,
      catchUp.holding,
      inputs.emitted,
      inputs.save(after.isEmpty),
      late.onTime,
      late.totals,
      due.save,
      if (after.isEmpty) inputs.settings else Nil,
      clock = clock.saved
    )
  }

  // After the batch that another run has begun, this run goes on by its own settings.
  private def handOver(whole: LedgerEntry): Unit = {
    own.restore(Seq(whole))
    inputs = own
    recorded = None
  }

  private def recordOf(batchId: Long) =
    RecordedState(batchId, catchUp.holding, due.begins, clock.saved.steps)

  /** On the last batch that ended, or on how things stand before there is one. */
  def report: WatermarkReport = synchronized {
    WatermarkReport(
      finished.fold(-1L)(_.batchId),
      finished.fold(query.nowMs * 1000)(_.batch.nowMicros),
      inputs.ideal,
      inputs.emitted,
      catchUp.holding,
      late.counts,
      inputs.report(finished.fold(Map.empty[Int, BatchEventTimeStats])(_.rows)),
      clock.saved,
      outlook
    )
  }

  private def outlook: Outlook = {
    val now = clock.at(query.nowMs * 1000)
    Outlook(Some(now), inputs.nextDue(0), due.closing(inputs.nextDue), due.scopes)
  }
}

/** How the batch after one is begun, as it was written down. */
private[query] final case class RecordedState(
    batchId: Long,
    held: Boolean,
    begins: Seq[String],
    clockSteps: Int
) {
  def isOf(clock: QueryClock): Boolean = clockSteps == clock.saved.steps
}

/** The last batch that ended, for reports. */
private[query] final case class LastBatch(
    batch: BatchWatermark,
    rows: Map[Int, BatchEventTimeStats],
    readNothing: Boolean
) {
  def batchId: Long = batch.info.batchId
}
