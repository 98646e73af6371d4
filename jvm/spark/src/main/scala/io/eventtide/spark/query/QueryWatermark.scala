package io.eventtide.spark.query

import java.util.UUID

import org.apache.spark.sql.connector.read.streaming.SparkDataStream
import org.apache.spark.sql.eventtide.{BatchInfo, RunningQuery}
import org.apache.spark.sql.execution.streaming.operators.stateful.EventTimeStats

import io.eventtide.kernel.watermark.Deadlines
import io.eventtide.spark.source.ClockStream

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
  * All of it runs on the query's thread, except reports, which any thread may ask for.
  */
private[spark] final class QueryWatermark(
    query: RunningQuery,
    inputs: IndexedSeq[QueryInput],
    ledger: BatchLedger
) {

  def queryId: UUID = query.id
  def runId: UUID = query.runId
  def nowMs: Long = query.nowMs

  private val positions: Map[UUID, Int] = inputs.map(_.nodeId).zipWithIndex.toMap
  private val catchUp = new CatchUp(inputs.exists(_.settings.holdsOnRestart))
  private var claimed = false
  private var lastTicked = false
  private var restored = false
  private var emittedMicros: Option[Long] = None
  private var batch: Option[BatchWatermark] = None
  private val ticks = new TickSchedule
  private var finished: Option[FinishedBatch] = None

  /** True for the first clock that opens: it ticks for the query. */
  def claimClock(): Boolean = synchronized {
    val first = !claimed
    claimed = true
    first
  }

  /** The batch that Spark is planning; the same object for all nodes of the batch. */
  def planned(info: BatchInfo): BatchWatermark = synchronized {
    batch.filter(_.info == info).getOrElse {
      restore(info.batchId, info.timestampMs * 1000, runsAgain = true)
      val next = new BatchWatermark(this, info)
      batch = Some(next)
      next
    }
  }

  /** Ends a batch: credits its rows and its time, writes the ledger, and says the watermark. */
  private[query] def finish(ended: BatchWatermark): EventTimeStats = synchronized {
    val rows = ended.rows(positions)
    val now = ended.nowMicros
    if (ended.info.watermarkMs > 0) raise(ended.watermarkMicros, now)
    val hadRows = rows.values.exists(!_.isEmpty)
    if (hadRows || !catchUp.holding) {
      inputs.zipWithIndex.foreach { case (input, position) =>
        input.observe(now, rows.getOrElse(position, BatchRows.Empty), credited = !catchUp.holding)
      }
    }
    if (hadRows) combined(inputs).foreach(raise(_, now))
    write(ended.info.batchId)
    ticks.reschedule()
    finished = Some(FinishedBatch(ended.info.batchId, now, rows, query.readNothing(isClock)))
    stats(rows.values.filterNot(_.isEmpty).toSeq)
  }

  /** Whether the clock asks for a batch; if so, its watermark has been raised already.
    *
    * Called whenever Spark looks for new data, on idle triggers too. Between two ticks there is
    * always one trigger that finds nothing to do, which is what `processAllAvailable` waits for.
    */
  def tick(): Boolean = synchronized {
    val now = query.nowMs * 1000
    restore(query.nextBatchId, now, runsAgain = false)
    val batchSince = ticks.polled(query.lastPlanned)
    if (catchUp.poll(batchSince, tookAll)) ticks.reschedule()
    !catchUp.holding && ticks.mayTick && ticks.due(now)(nextDue) && advanceTo(now)
  }

  /** As `tick`, for a run that reads what there is and ends: one tick, after the data.
    *
    * The run ends with the first trigger that finds nothing, and a source may not be able to say
    * that it has no more. Then a batch is asked for to find out, without a tick.
    *
    * @param nowMs
    *   the clock when the run began; the tick is at that time, or that of the last batch
    */
  def lastTick(nowMs: Long): Boolean = synchronized {
    // The end of that millisecond: what a held batch has skipped, counts no more until it.
    val now = math.max(nowMs * 1000, finished.fold(0L)(_.nowMicros)) + 999
    restore(query.nextBatchId, now, runsAgain = false)
    if (lastTicked || !ticks.due(now)(nextDue)) false
    else if (!dataIsOver) true
    else {
      lastTicked = true
      catchUp.end()
      advanceTo(now)
    }
  }

  private def isClock(source: SparkDataStream): Boolean = source.isInstanceOf[ClockStream]

  private def tookAll: Boolean = query.sourcesCaughtUp(isClock).contains(true)

  private def dataIsOver: Boolean = finished.exists(last => last.readNothing || tookAll)

  private def advanceTo(now: Long): Boolean = {
    val ideal = combined(inputs.map(_.at(now)))
    val spark = ideal.map(micros => query.combined(micros / 1000, positions.contains))
    val moves = spark.exists(_ > query.watermarkMs)
    if (moves) {
      query.raiseWatermark(spark.get)
      ticks.ticked()
    } else ticks.postpone(now)
    moves
  }

  // The earliest clock at which the combined watermark would be one step further without rows.
  private def nextDue: Option[Long] = {
    val step = if (inputs.forall(_.settings.isThrottled)) 1000L else QueryWatermark.UnthrottledStep
    val target = emittedMicros.fold(1000L)(_ + step)
    Deadlines.earliest(inputs.map(_.deadline(target)))
  }

  private def raise(micros: Long, now: Long): Unit = {
    val whole = Math.floorDiv(micros, 1000L) * 1000L
    if (emittedMicros.forall(_ < whole)) emittedMicros = Some(whole)
    inputs.foreach(_.raise(whole, now))
  }

  // The minimum over the inputs that are not idle; when all are, the highest of any.
  private def combined(
      of: Seq[QueryInput],
      watermark: QueryInput => Option[Long] = _.emitted
  ): Option[Long] = {
    val active = of.filterNot(_.isIdle)
    val values = (if (active.isEmpty) of else active).map(watermark)
    if (active.isEmpty) values.flatten.maxOption
    else if (values.contains(None)) None
    else values.flatten.minOption
  }

  private def stats(rows: Seq[BatchRows]): EventTimeStats = emittedMicros match {
    case Some(micros) =>
      val ms = micros / 1000
      val lowest = rows.map(_.min / 1000).minOption.getOrElse(ms)
      EventTimeStats(max = ms, min = math.min(lowest, ms), avg = ms.toDouble, count = 1)
    case None => EventTimeStats.zero
  }

  private def write(batchId: Long): Unit = {
    val after = if (ledger.wantsWhole) None else ledger.last
    val saved = inputs.map(_.save(whole = after.isEmpty))
    ledger.write(LedgerEntry(batchId, after, catchUp.holding, emittedMicros, saved))
  }

  // Once a run: when Spark first looks for new data, or plans a batch that it had begun before.
  private def restore(nextBatch: Long, now: Long, runsAgain: Boolean): Unit = if (!restored) {
    restored = true
    val entries = ledger.restore(below = nextBatch)
    inputs.zipWithIndex.foreach { case (input, i) => input.start(now, entries.map(_.inputs(i))) }
    entries.lastOption.foreach { last =>
      emittedMicros = last.emittedMicros
      catchUp.restarted(wasHeld = last.held, runsAgain)
    }
  }

  /** On the last batch that ended, or on how things stand before there is one. */
  def report: WatermarkReport = synchronized {
    WatermarkReport(
      finished.fold(-1L)(_.batchId),
      finished.fold(query.nowMs * 1000)(_.nowMicros),
      combined(inputs, _.ideal),
      emittedMicros,
      catchUp.holding,
      inputs.zipWithIndex.map { case (input, position) =>
        input.report(position, finished.flatMap(_.rows.get(position)).getOrElse(BatchRows.Empty))
      }
    )
  }
}

private[spark] object QueryWatermark {

  /** How far the clock must be able to move a watermark that has no throttle of its own: 1 s. */
  private val UnthrottledStep = 1000000L
}

/** The last batch that ended, for reports. */
private[query] final case class FinishedBatch(
    batchId: Long,
    nowMicros: Long,
    rows: Map[Int, BatchRows],
    readNothing: Boolean
)
