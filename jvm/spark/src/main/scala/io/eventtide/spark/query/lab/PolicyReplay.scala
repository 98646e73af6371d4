package io.eventtide.spark.query.lab

import java.util.UUID

import io.eventtide.kernel.disorder.{BatchDisorder, DisorderHistogram}
import io.eventtide.kernel.lab.ReplayedWindows
import io.eventtide.kernel.time.Frame
import io.eventtide.kernel.window.WindowSpec
import io.eventtide.spark.operators.WindowBatchContext
import io.eventtide.spark.options.WatermarkSettings
import io.eventtide.spark.query.run.QueryInputs
import io.eventtide.spark.spi.{BatchEventTimeStats, ReachedTime}

/** One policy over recorded batches: the query's own inputs, and a model of its windows.
  *
  *   - '''Guarantee:''' windows close at the clock values, and rows are late, as in a query that is
  *     triggered at each interval, always has caught up, and runs one window.
  *   - '''Units:''' microseconds.
  *   - '''Edges:''' at one clock value the clock counts before the rows. As in a query, an advance by the
  *     clock has a batch of its own, and one by rows has a batch without rows only if it closes a window.
  *
  * @param begin
  *   the clock at the start of the query
  * @param interval
  *   the time from one trigger to the next
  */
private[lab] final class PolicyReplay(
    settings: WatermarkSettings,
    spec: WindowSpec,
    begin: Long,
    interval: Long
) {
  private val inputs = QueryInputs.of(Seq(new UUID(0, 0) -> settings))
  private val triggers = Frame(interval) // batches are at multiples of the interval
  private var triggered = begin
  private var watermark = Option.empty[Long] // of the next batch
  private var judging = Option.empty[Long] // the watermark of the last batch

  val windows = new ReplayedWindows(spec)

  private var onTimeSoFar = 0L
  private var lateSoFar = 0L

  /** The number of rows on time, and of late rows. */
  def onTime: Long = onTimeSoFar
  def late: Long = lateSoFar

  inputs.begin(begin)

  /** Ends with what the clock of the last batch still moves. */
  def end(): Unit = advance(triggered)

  // Runs the triggers up to a clock value, inclusive, without rows.
  private def advance(now: Long): Unit = {
    var at = nextTick(triggered)
    while (at <= now) {
      at = if (tick(at)) nextTick(at) else triggers.ceiling(at + PolicyReplay.Second)
    }
    triggered = now
  }

  private def nextTick(from: Long): Long =
    inputs.nextDue(0).fold(Long.MaxValue)(due => triggers.ceiling(math.max(due, from)))

  private def tick(now: Long): Boolean = {
    val raised = PolicyReplay.known(inputs.emittedAt(now)).filter(to => watermark.forall(_ < to))
    raised.foreach { to =>
      watermark = raised
      close(Some(to), now)
      observe(now, BatchEventTimeStats.Empty, None)
    }
    raised.isDefined
  }

  /** Takes the rows of the batch that is triggered at a clock value. */
  def batch(now: Long, rows: BatchRows): Unit = {
    advance(now)
    val below = judging.fold(Long.MinValue)(spec.lateBelow)
    val (tooLate, others) = rows.frames.partition(of => spec.frames.start(of.frame) < below)
    others.foreach(of => windows.add(of.frame, of.newKeys))
    lateSoFar += tooLate.map(_.rows).sum
    onTimeSoFar += others.map(_.rows).sum
    val missed = Option
      .when(inputs.countDisorder)(inputs.judging)
      .filter(_ != ReachedTime.None)
      .map(disorder(_, rows, tooLate))
    close(watermark, now)
    val lowest = others.filter(_.rows > 0).map(_.lowest).minOption
    val known = inputs.onTime(Map(0 -> rows.stats), lowest)
    observe(now, known(0), missed)
    inputs.emit(now)
    inputs.reach(now)
    watermark = PolicyReplay.known(inputs.emitted)
    closeAtOnce(now)
  }

  // Spark runs a batch without rows if the new watermark closes a window.
  private def closeAtOnce(now: Long): Unit =
    if (windows.awaits.exists(least => watermark.exists(_ >= least))) {
      close(watermark, now)
      observe(now, BatchEventTimeStats.Empty, None)
    }

  private def close(by: Option[Long], now: Long): Unit = {
    by.foreach(windows.close(_, now))
    by.foreach(inputs.raise(_, now))
    inputs.closed(by, now)
    judging = by
  }

  private def observe(now: Long, rows: BatchEventTimeStats, missed: Option[BatchDisorder]): Unit =
    inputs.observe(now, if (rows.isEmpty) Map.empty else Map(0 -> rows), credited = true, missed)

  // As `LateRowJudge` counts the rows of a task.
  private def disorder(
      reached: ReachedTime,
      rows: BatchRows,
      tooLate: Seq[ReplayedFrame]
  ): BatchDisorder = {
    val histogram = new DisorderHistogram
    val inOrder = spec.lateBelow(reached.micros)
    for (of <- rows.frames; start = spec.frames.start(of.frame) if start < inOrder)
      histogram.add(reached.micros - spec.lateFrom(start) + 1, of.rows)
    BatchDisorder.of(Seq(histogram), rows.frames.map(_.rows).sum, tooLate.map(_.rows).sum)
  }
}

private object PolicyReplay {
  private val Second = 1000000L

  // Spark's watermark is in whole milliseconds.
  private def known(micros: Option[Long]): Option[Long] =
    micros.flatMap(of => WindowBatchContext.known(Math.floorDiv(of, 1000L)))
}
