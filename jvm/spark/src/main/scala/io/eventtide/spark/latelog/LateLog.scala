package io.eventtide.spark.latelog

import org.apache.spark.TaskContext
import org.apache.spark.sql.catalyst.InternalRow

import io.eventtide.kernel.completeness.FrameRows
import io.eventtide.kernel.disorder.DisorderHistogram
import io.eventtide.kernel.window.TimeRange
import io.eventtide.spark.options.LateMode

/** Collects the late rows of one node in one batch; tasks open it.
  *
  * @param watermarkMicros
  *   the watermark that rows are compared with; None while there is no watermark
  * @param files
  *   the writer of the late files; None if the rows are not stored
  */
final class LateLog private[latelog] (
    val batchId: Long,
    val watermarkMicros: Option[Long],
    mode: LateMode,
    files: Option[LateFiles],
    private[spark] val reports: LateAccum
) extends Serializable {

  /** Opens the log in a task. The same task must close it. */
  def open(partition: Int): LateLogWriter = {
    val task = Option(TaskContext.get())
    val late = new LateLogWriter(this, partition, task.fold(-1)(_.stageId()))
    task.foreach { task =>
      task.addTaskFailureListener((_, _) => late.discard())
      task.addTaskCompletionListener[Unit](_ => late.close())
    }
    late
  }

  private[latelog] def create(partition: Int): Option[LateFileWriter] =
    files.map(_.create(batchId, partition))

  private[latelog] def refuses: Boolean = mode == LateMode.Fail

  /** The added columns of a row of which only the reason is known. */
  private[latelog] def columns: LateColumns = new LateColumns(batchId, watermarkMicros)
}

/** The late rows of one task. Only the task's thread may write to it. */
final class LateLogWriter private[latelog] (log: LateLog, partition: Int, stage: Int) {
  private var rows = Map.empty[LateReason, Long]
  private val columns = log.columns
  private var judge = log.watermarkMicros
  private var file = Option.empty[LateFileWriter] // created by the first late row
  private var isOpen = true
  private var earliest = Long.MaxValue // of the late rows that have an event time
  private var latest = Long.MinValue

  private var onTime = 0L
  private var lowest = Long.MaxValue
  private val lateBy = new DisorderHistogram

  private var disorder = Option.empty[DisorderHistogram]

  /** Begins to report the disorder of the task's rows, which the caller adds; rows in order are left
    * out.
    */
  def beginDisorder(): DisorderHistogram = {
    val rows = new DisorderHistogram
    disorder = Some(rows)
    rows
  }

  private var frames = Option.empty[FrameRows]

  /** Begins to report the task's rows by frame, which the caller adds. */
  def beginFrames(): FrameRows = {
    val rows = new FrameRows
    frames = Some(rows)
    rows
  }

  /** Counts an on-time row with this event time. */
  def pass(micros: Long): Unit = pass(micros, rows = 1)

  /** Counts `rows` on-time rows, of which `lowest` is the lowest event time. */
  def pass(lowest: Long, rows: Long): Unit = {
    onTime += rows
    if (lowest < this.lowest) this.lowest = lowest
  }

  /** Sets the watermark that the following rows are compared with, if it differs between rows. */
  def judgedBy(watermarkMicros: Option[Long]): Unit = {
    judge = watermarkMicros
    columns.judgedBy(watermarkMicros)
  }

  /** Adds a late row. The caller may reuse `row` afterwards.
    *
    * @param row
    *   the columns to store, then the names of the row's substream and key
    * @param windowsMissed
    *   the number of windows that the row would have been in
    */
  def add(
      row: InternalRow,
      reason: LateReason,
      eventTimeMicros: Long,
      windowsMissed: Option[Int]
  ): Unit = {
    if (log.refuses) throw LateRowException(Some(eventTimeMicros), judge, reason)
    columns.at(eventTimeMicros, windowsMissed)
    earliest = math.min(earliest, eventTimeMicros)
    latest = math.max(latest, eventTimeMicros)
    if (LateReason.tooLate.contains(reason)) {
      judge.foreach(watermark => lateBy.add(watermark - eventTimeMicros))
    }
    put(row, reason)
  }

  /** Adds a row that has no event time, or an event time that cannot be represented. */
  def addWithoutTime(row: InternalRow): Unit = {
    if (log.refuses) throw LateRowException(None, judge, LateReason.BadTime)
    columns.withoutTime()
    put(row, LateReason.BadTime)
  }

  private def put(row: InternalRow, reason: LateReason): Unit = {
    if (rows.isEmpty) file = log.create(partition)
    file.foreach(_.write(columns.beside(row, reason)))
    rows += reason -> (rows.getOrElse(reason, 0L) + 1)
  }

  /** Reports the counts while the task runs. */
  def reportSoFar(): Unit = if (isOpen) report(None)

  /** Closes the file, if there is one, and reports; idempotent. A task without rows reports too: if
    * its stage is retried, its report replaces an earlier report that may have had rows.
    */
  def close(): Unit = if (isOpen) {
    isOpen = false
    report(file.map(f => LateFileInfo(f.name, f.close(), times)))
  }

  private def report(written: Option[LateFileInfo]): Unit =
    log.reports.add(
      partition -> LateReport(
        stage,
        written,
        rows,
        onTime,
        lowest,
        lateBy.copied,
        disorder.map(_.copied),
        frames.map(rows => FrameRows.sum(Seq(rows)))
      )
    )

  private def times: Option[TimeRange] =
    Option.when(earliest <= latest)(TimeRange(earliest, latest))

  /** Discards the file of a failed task. */
  private[latelog] def discard(): Unit = {
    isOpen = false
    file.foreach(_.discard())
  }
}
