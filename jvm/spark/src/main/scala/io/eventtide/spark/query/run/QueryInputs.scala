package io.eventtide.spark.query.run

import java.util.UUID

import io.eventtide.kernel.disorder.{BatchDisorder, Drift}
import io.eventtide.kernel.watermark.{Backlog, Deadlines}
import io.eventtide.spark.checkpoint.LedgerEntry
import io.eventtide.spark.options.{SubstreamDescription, WatermarkSettings, WatermarkSettingsJson}
import io.eventtide.spark.query.monitor.{InputReport, SubstreamLimit}
import io.eventtide.spark.spi.{BatchEventTimeStats, ReachedTime, TaskInputState}

/** All inputs of a query combined: the watermark is the lowest of all inputs that are not idle.
  *
  * @param curveRows
  *   the number of rows that the lag curves remember; None without lag curves
  */
private[query] final class QueryInputs private (
    inputs: IndexedSeq[QueryInput],
    val curveRows: Option[Long]
) {
  private var emittedMicros: Option[Long] = None
  private var reachedMicros: Option[Long] = None
  private var judgingTime = ReachedTime.None

  /** The position of an input in the plan, by the id of its watermark node. */
  val positions: Map[UUID, Int] = inputs.map(_.nodeId).zipWithIndex.toMap

  val holdsOnRestart: Boolean = inputs.exists(_.settings.holdsOnRestart)

  /** The watermark last reported to Spark, in whole milliseconds; None while there is none. */
  def emitted: Option[Long] = emittedMicros

  /** The highest value so far of the lowest highest time of the active substreams, in whole
    * milliseconds; None before the first row.
    */
  def reached: Option[Long] = reachedMicros

  /** What the rows of the next batch are judged by. */
  def judging: ReachedTime = judgingTime

  /** Whether the disorder of rows is counted. */
  val countDisorder: Boolean =
    curveRows.isDefined || inputs.exists(_.settings.policy.lateTarget.isDefined)

  /** The lag that a late target has learnt, of a query with one input. */
  def learntLag: Option[Long] =
    Option.when(inputs.length == 1)(inputs.flatMap(_.learntLag).headOption).flatten

  /** Whether a policy follows the clock. */
  val followTheClock: Boolean = inputs.exists(_.settings.policy.movesWithClock)

  /** The lowest clock step limit of the inputs' settings; None if no input sets one. */
  val maxClockStepMicros: Option[Long] = inputs.flatMap(_.settings.maxClockStepMicros).minOption

  /** The policies' combined watermark before throttles. */
  def ideal: Option[Long] = combined(inputs.map(input => (input.isIdle, input.ideal)))

  /** Begins in a checkpoint without batches. */
  def begin(now: Long): Unit = inputs.foreach(_.begin(now))

  /** The settings of each input, by the id of its watermark node. */
  def settingsById: Seq[(UUID, WatermarkSettings)] =
    inputs.map(input => input.nodeId -> input.settings)

  /** Continues from the state of a task, or of the driver before a batch. */
  def resume(state: TaskInputState, aheadMicros: Long): Unit = {
    inputs.zip(state.inputs).foreach { case (input, saved) =>
      input.restore(Seq(saved), aheadMicros)
    }
    emittedMicros = state.emittedMicros
  }

  /** Restores a full ledger entry and the incremental entries after it. */
  def restore(saved: Seq[LedgerEntry]): Unit = {
    val ahead = saved.last.clock.aheadMicros
    inputs.zipWithIndex.foreach { case (input, i) =>
      input.restore(saved.map(_.inputs(i)), ahead)
    }
    emittedMicros = saved.last.emittedMicros
    reachedMicros = saved.last.reachedMicros
    judgingTime = saved.last.judging
  }

  /** Sets the offset of the query's clock from the machine's clock; measured durations stay. */
  def correct(aheadMicros: Long): Unit = inputs.foreach(_.correct(aheadMicros))

  /** The settings of a watermark node's input. */
  def settingsOf(nodeId: UUID): Option[WatermarkSettings] =
    positions.get(nodeId).map(inputs(_).settings)

  /** The same inputs for a replayed batch of another run, whose settings are in `written`. */
  def inBatchBegunBy(written: Seq[String]): QueryInputs = new QueryInputs(
    inputs.zip(written).map { case (input, text) =>
      val begun = WatermarkSettingsJson.read(text)
      new QueryInput(input.nodeId, input.settings.inBatchBegunBy(begun), curveRows)
    },
    curveRows
  )

  /** The watermark nodes of inputs whose substreams are their source's partitions, by position. */
  val partitionInputs: Map[Int, UUID] = inputs.zipWithIndex.collect {
    case (input, position) if input.settings.substreams == SubstreamDescription.Kafka =>
      position -> input.nodeId
  }.toMap

  /** Takes the backlogs of partitions from the sources, by position. */
  def updateBacklogs(now: Long, backlogs: Map[Int, Map[String, Backlog]]): Unit =
    backlogs.foreach { case (position, of) => inputs(position).updateBacklogs(now, of) }

  /** Takes the backlogs of partitions from the sources; `assumed` ones if a source cannot report them.
    */
  def takeBacklogs(
      now: Long,
      reported: Option[Map[Int, Map[String, Backlog]]],
      assumed: => Map[Int, Map[String, Backlog]]
  ): Unit = reported match {
    case Some(backlogs) => updateBacklogs(now, backlogs)
    case None => assumed.foreach { case (at, of) => inputs(at).assumeBacklogs(now, of) }
  }

  /** The partitions of sources with a backlog, by the position of their input. */
  def partitionsWithBacklog: Seq[(Int, String)] = for {
    position <- partitionInputs.keys.toSeq
    name <- inputs(position).partitionsWithBacklog
  } yield position -> name

  /** Takes that partitions have been read to their end. */
  def endBacklogs(now: Long, partitions: Seq[(Int, String)]): Unit =
    partitions.groupMap(_._1)(_._2).foreach { case (position, names) =>
      inputs(position).endBacklogs(now, names)
    }

  /** Whether no rows until `now` would make a partition idle, or advance its watermark. */
  def isMovedByIdleness(now: Long): Boolean =
    partitionInputs.keys.exists(inputs(_).isMovedByIdleness(now))

  /** Removes partitions that no longer exist, after `updateBacklogs` and the rows of the batch. */
  def retainPartitions(
      now: Long,
      partitions: Map[Int, Map[String, Backlog]],
      rows: Map[Int, BatchEventTimeStats] = Map.empty
  ): Unit =
    partitions.foreach { case (position, of) =>
      inputs(position).retainPartitions(
        now,
        of.keySet,
        rows.getOrElse(position, BatchEventTimeStats.Empty)
      )
    }

  /** Counts the refused rows of a batch, by position. */
  def refuse(rows: Map[Int, BatchEventTimeStats]): Unit =
    rows.foreach { case (position, of) => inputs(position).refuse(of) }

  /** Takes the rows of a batch, by position, and the time until `now` if it is `credited`.
    *
    * @param missed
    *   the rows of a query with one input by the lag that its window needs for them; None to take the
    *   rows by their disorder
    */
  def observe(
      now: Long,
      rows: Map[Int, BatchEventTimeStats],
      credited: Boolean,
      missed: Option[BatchDisorder] = None
  ): Unit = {
    val ofOne = missed.filter(_ => inputs.length == 1)
    inputs.zipWithIndex.foreach { case (input, position) =>
      input.observe(now, rows.getOrElse(position, BatchEventTimeStats.Empty), credited, ofOne)
    }
  }

  /** Takes the watermark that a batch closes windows by, before its rows: it judges the rows of the next
    * batch. If the clock has raised it, `reached` follows.
    */
  def closed(watermark: Option[Long], now: Long): Unit = if (countDisorder) {
    val reached = reachedBy(watermark, now)
    if (watermark.exists(_ > judgingTime.watermarkMicros)) reach(now)
    judgingTime = ReachedTime(reached, watermark.getOrElse(Long.MinValue))
  }

  /** The time that has been reached when a batch closes windows by a watermark. */
  def reachedBy(watermark: Option[Long], now: Long): Long = {
    val raised = watermark.filter(_ > judgingTime.watermarkMicros).flatMap(_ => lowestTop(now))
    (reachedMicros ++ raised ++ watermark).maxOption.getOrElse(Long.MinValue)
  }

  /** Raises `reached`, after the rows of a batch. */
  def reach(now: Long): Unit = if (countDisorder) {
    reachedMicros = (reachedMicros ++ lowestTop(now)).maxOption
  }

  private def lowestTop(now: Long): Option[Long] = {
    val lowest = combined(inputs.map(input => (input.at(now).isIdle, input.lowestTop(now))))
    lowest.map(Math.floorDiv(_, 1000L) * 1000L)
  }

  /** The rows of a batch, without late rows for policies that depend on the lowest time on time. */
  def onTime(
      rows: Map[Int, BatchEventTimeStats],
      lowest: Option[Long]
  ): Map[Int, BatchEventTimeStats] =
    lowest.fold(rows) { time =>
      rows.map { case (position, read) =>
        val policy = inputs.lift(position).map(_.settings.policy)
        val matters = policy.exists(of => of.usesLowest && !of.usesLate)
        position -> (if (matters) read.onTimeFrom(time) else read)
      }
    }

  /** Raises the emitted watermark to the inputs' combined watermark. */
  def emit(now: Long): Unit =
    combined(inputs.map(input => (input.isIdle, input.emitted))).foreach(raise(_, now))

  /** Raises the emitted watermark to a watermark that Spark already has. */
  def raise(micros: Long, now: Long): Unit = {
    val whole = Math.floorDiv(micros, 1000L) * 1000L
    if (emittedMicros.forall(_ < whole)) emittedMicros = Some(whole)
    inputs.foreach(_.raise(whole, now))
  }

  /** The watermark to be emitted at `now` if there are no more rows. */
  def emittedAt(now: Long): Option[Long] = combined(
    inputs.map(_.at(now)).map(at => (at.isIdle, at.emitted))
  )

  /** The earliest clock value at which, without rows, the emitted watermark reaches `least`. If it
    * is within a millisecond of `least` or above, the target is one step above the emitted
    * watermark: timers are not exact to the millisecond.
    */
  def nextDue(least: Long): Option[Long] = {
    val step = if (inputs.forall(_.settings.isThrottled)) 1000L else QueryInputs.UnthrottledStep
    val oneStep = emittedMicros.fold(1000L)(_ + step)
    val wholeLeast = QueryInputs.wholeMs(least)
    val target =
      if (emittedMicros.forall(_ + 1000 < wholeLeast)) math.max(wholeLeast, 1000L) else oneStep
    Deadlines.earliest(inputs.map(_.deadline(target)))
  }

  /** The settings of each input as text. */
  lazy val settings: Seq[String] = inputs.map(input => WatermarkSettingsJson.write(input.settings))

  def save(whole: Boolean): Seq[Array[Byte]] = inputs.map(_.save(whole))

  /** The number of substreams of each input and its limit. */
  def limits: Seq[SubstreamLimit] = inputs.map(_.limit)

  /** The inputs whose disorder has changed much, by name. */
  def drifts: Seq[(String, Drift)] = for {
    (input, position) <- inputs.zipWithIndex
    drift <- input.drift
  } yield input.settings.label(position) -> drift

  def report(rows: Map[Int, BatchEventTimeStats]): Seq[InputReport] =
    inputs.zipWithIndex.map { case (input, position) =>
      input.report(position, rows.getOrElse(position, BatchEventTimeStats.Empty))
    }

  /** The report on an input, with the substreams whose names have a part. */
  def find(position: Int, rows: Map[Int, BatchEventTimeStats], named: String): Option[InputReport] =
    inputs.lift(position).map { input =>
      input.report(position, rows.getOrElse(position, BatchEventTimeStats.Empty), Some(named))
    }

  // If all inputs are idle, none delays the watermark, so it is the highest of all.
  private def combined(idleAndWatermark: Seq[(Boolean, Option[Long])]): Option[Long] = {
    val active = idleAndWatermark.filterNot(_._1)
    val values = (if (active.isEmpty) idleAndWatermark else active).map(_._2)
    if (active.isEmpty) values.flatten.maxOption
    else if (values.contains(None)) None
    else values.flatten.minOption
  }
}

private[query] object QueryInputs {

  /** Inputs without state. */
  def of(
      settings: Seq[(UUID, WatermarkSettings)],
      curveRows: Option[Long] = None
  ): QueryInputs = new QueryInputs(
    settings.map { case (nodeId, of) => new QueryInput(nodeId, of, curveRows) }.toIndexedSeq,
    curveRows
  )

  /** Rounds up to milliseconds, because the watermark reported to Spark is rounded down. */
  private[query] def wholeMs(micros: Long): Long = -Math.floorDiv(-micros, 1000L) * 1000

  /** The minimum step by which the clock moves a watermark without a throttle: 1 s. */
  private val UnthrottledStep = 1000000L
}
