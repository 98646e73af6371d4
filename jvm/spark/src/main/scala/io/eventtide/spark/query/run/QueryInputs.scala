package io.eventtide.spark.query.run

import java.util.UUID

import io.eventtide.kernel.watermark.{Backlog, Deadlines}
import io.eventtide.spark.checkpoint.LedgerEntry
import io.eventtide.spark.options.{SubstreamDescription, WatermarkSettings, WatermarkSettingsJson}
import io.eventtide.spark.query.monitor.{InputReport, SubstreamLimit}
import io.eventtide.spark.spi.BatchEventTimeStats

/** All inputs of a query as one: the lowest that is not idle says the watermark. */
private[query] final class QueryInputs(inputs: IndexedSeq[QueryInput]) {
  private var emittedMicros: Option[Long] = None

  /** The position of an input in the plan, by the id of its watermark node. */
  val positions: Map[UUID, Int] = inputs.map(_.nodeId).zipWithIndex.toMap

  val holdOnRestart: Boolean = inputs.exists(_.settings.holdsOnRestart)

  /** The watermark that Spark was told, in whole milliseconds; None while there is none. */
  def emitted: Option[Long] = emittedMicros

  /** Whether a policy goes by what the clock shows. */
  val followTheClock: Boolean = inputs.exists(_.settings.policy.movesWithClock)

  /** The least of what was asked for; None where nothing was. */
  val maxClockStepMicros: Option[Long] = inputs.flatMap(_.settings.maxClockStepMicros).minOption

  /** What the policies say, before throttles. */
  def ideal: Option[Long] = combined(inputs.map(input => (input.isIdle, input.ideal)))

  /** Begins, in a checkpoint without batches. */
  def begin(now: Long): Unit = inputs.foreach(_.begin(now))

  /** Takes over a whole entry of the ledger, and the changes after it. */
  def restore(saved: Seq[LedgerEntry]): Unit = {
    val ahead = saved.last.clock.aheadMicros
    inputs.zipWithIndex.foreach { case (input, i) =>
      input.restore(saved.map(_.inputs(i)), ahead)
    }
    emittedMicros = saved.last.emittedMicros
  }

  /** The query's clock is so far ahead of the machine's from now on; what was measured stays. */
  def correct(aheadMicros: Long): Unit = inputs.foreach(_.correct(aheadMicros))

  /** The input of a watermark node, as it was asked for. */
  def settingsOf(nodeId: UUID): Option[WatermarkSettings] =
    positions.get(nodeId).map(inputs(_).settings)

  /** The same inputs in a batch that another run has begun, which had asked for them as written. */
  def inBatchBegunBy(written: Seq[String]): QueryInputs = new QueryInputs(
    inputs.zip(written).map { case (input, text) =>
      val begun = WatermarkSettingsJson.read(text)
      new QueryInput(input.nodeId, input.settings.inBatchBegunBy(begun))
    }
  )

  /** The positions of inputs whose substreams are the partitions of their source, and their nodes. */
  val ofPartitions: Map[Int, UUID] = inputs.zipWithIndex.collect {
    case (input, position) if input.settings.substreams == SubstreamDescription.Kafka =>
      position -> input.nodeId
  }.toMap

  /** Takes what sources say of their partitions, by position. */
  def updateBacklogs(now: Long, backlogs: Map[Int, Map[String, Backlog]]): Unit =
    backlogs.foreach { case (position, of) => inputs(position).updateBacklogs(now, of) }

  /** Until the sources say what their partitions have left. */
  def assumeBacklogs(now: Long, partitions: Map[Int, Map[String, Backlog]]): Unit =
    partitions.foreach { case (position, of) => inputs(position).assumeBacklogs(now, of) }

  /** Whether the silence of a partition until `now` would decide something. */
  def isSilenceUpTo(now: Long): Boolean = ofPartitions.keys.exists(inputs(_).isSilenceUpTo(now))

  /** Takes out partitions that are gone, after `updateBacklogs` and the rows of the batch. */
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

  /** Counts the rows of a batch that were refused, by position. */
  def refuse(rows: Map[Int, BatchEventTimeStats]): Unit =
    rows.foreach { case (position, of) => inputs(position).refuse(of) }

  /** Takes the rows of a batch, by position; the time until `now` counts if it is `credited`. */
  def observe(now: Long, rows: Map[Int, BatchEventTimeStats], credited: Boolean): Unit =
    inputs.zipWithIndex.foreach { case (input, position) =>
      input.observe(now, rows.getOrElse(position, BatchEventTimeStats.Empty), credited)
    }

  /** The rows of a batch without those that were late, for policies to which that matters. */
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

  /** Raises what is emitted to what the inputs have together. */
  def emit(now: Long): Unit =
    combined(inputs.map(input => (input.isIdle, input.emitted))).foreach(raise(_, now))

  /** Raises what is emitted to a watermark that Spark has already. */
  def raise(micros: Long, now: Long): Unit = {
    val whole = Math.floorDiv(micros, 1000L) * 1000L
    if (emittedMicros.forall(_ < whole)) emittedMicros = Some(whole)
    inputs.foreach(_.raise(whole, now))
  }

  /** What would be emitted at `now`, were there no more rows. */
  def emittedAt(now: Long): Option[Long] = combined(
    inputs.map(_.at(now)).map(at => (at.isIdle, at.emitted))
  )

  /** The earliest clock at which what is emitted would be at this watermark without rows, or one step
    * further if it is nearly there: what is due is not known to the millisecond.
    */
  def nextDue(least: Long): Option[Long] = {
    val step = if (inputs.forall(_.settings.isThrottled)) 1000L else QueryInputs.UnthrottledStep
    val oneStep = emittedMicros.fold(1000L)(_ + step)
    val asked = QueryInputs.wholeMs(least)
    val target = if (emittedMicros.forall(_ + 1000 < asked)) math.max(asked, 1000L) else oneStep
    Deadlines.earliest(inputs.map(_.deadline(target)))
  }

  /** How each was asked for, as text. */
  lazy val settings: Seq[String] = inputs.map(input => WatermarkSettingsJson.write(input.settings))

  def save(whole: Boolean): Seq[Array[Byte]] = inputs.map(_.save(whole))

  /** How many substreams each has, and may have. */
  def limits: Seq[SubstreamLimit] = inputs.map(_.limit)

  def report(rows: Map[Int, BatchEventTimeStats]): Seq[InputReport] =
    inputs.zipWithIndex.map { case (input, position) =>
      input.report(position, rows.getOrElse(position, BatchEventTimeStats.Empty))
    }

  // When all are idle, nobody is waited for: the highest of any.
  private def combined(idleAndWatermark: Seq[(Boolean, Option[Long])]): Option[Long] = {
    val active = idleAndWatermark.filterNot(_._1)
    val values = (if (active.isEmpty) idleAndWatermark else active).map(_._2)
    if (active.isEmpty) values.flatten.maxOption
    else if (values.contains(None)) None
    else values.flatten.minOption
  }
}

private[query] object QueryInputs {

  // What Spark is told is rounded down.
  private def wholeMs(micros: Long): Long = -Math.floorDiv(-micros, 1000L) * 1000

  /** How far the clock must be able to move a watermark that has no throttle of its own: 1 s. */
  private val UnthrottledStep = 1000000L
}
