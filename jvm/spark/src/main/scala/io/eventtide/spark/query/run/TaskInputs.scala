package io.eventtide.spark.query.run

import java.util.UUID

import io.eventtide.spark.operators.watermark.TimeMarker
import io.eventtide.spark.operators.{RunningWatermark, WatermarkStart}
import io.eventtide.spark.options.WatermarkSettings
import io.eventtide.spark.spi.{NextTimer, TaskInputState}

/** The policies of a query in a task of real-time mode. Each task of a window has all inputs, and
  * takes the event times of all rows from the markers in its stream.
  */
private[run] final class TaskInputs(inputs: QueryInputs) extends RunningWatermark {
  private val backlogs = new SilentPartitions(inputs)
  private var micros = inputs.emitted
  private var nextDue = Option.empty[Long] // None: to be computed

  override def current: Option[Long] = micros

  override def take(
      marker: Array[Byte],
      now: Long,
      isCredited: Boolean,
      lateBelow: Long => Long
  ): Unit = {
    val rows = inputs.onTime(TimeMarker.read(marker), micros.map(lateBelow))
    backlogs.hear(now, rows)
    inputs.observe(now, rows, isCredited)
    inputs.emit(now)
    moved()
  }

  override def advance(now: Long): Unit = {
    backlogs.advance(now)
    inputs.emittedAt(now).foreach(inputs.raise(_, now))
    moved()
  }

  private def moved(): Unit = {
    if (inputs.emitted != micros) micros = inputs.emitted
    nextDue = None
  }

  override def advancesAt: Long = {
    if (nextDue.isEmpty) nextDue = Some(inputs.nextDue(0).getOrElse(NextTimer.Never))
    nextDue.get
  }

  override def state: TaskInputState = TaskInputState(micros, inputs.save(whole = true))
}

private[run] object TaskInputs {

  /** The watermark from which the tasks of a batch begin. */
  def start(inputs: QueryInputs, aheadMicros: Long): WatermarkStart = Start(
    inputs.settingsById,
    TaskInputState(inputs.emitted, inputs.save(whole = true)),
    aheadMicros
  )

  /** The state with the highest watermark of all tasks; None if no task has reported a state. */
  def latest(reports: Seq[Map[Int, TaskInputState]]): Option[TaskInputState] = {
    val all = reports.flatMap(_.values)
    val emitted = all.flatMap(_.emittedMicros).maxOption
    all.find(_.inputs.nonEmpty).map(_.copy(emittedMicros = emitted))
  }

  private final case class Start(
      settings: Seq[(UUID, WatermarkSettings)],
      state: TaskInputState,
      aheadMicros: Long
  ) extends WatermarkStart {
    override def open(): RunningWatermark = {
      val inputs = QueryInputs.of(settings)
      inputs.resume(state, aheadMicros)
      new TaskInputs(inputs)
    }
  }
}
