package io.eventtide.spark.latelog

import org.apache.spark.TaskContext
import org.apache.spark.sql.catalyst.InternalRow

import io.eventtide.kernel.window.TimeRange
import io.eventtide.spark.options.LateMode

/** Where the tasks of one node put the late rows of one batch.
  *
  * @param watermarkMicros
  *   what the rows are late against; None while there is no watermark
  * @param files
  *   None where rows are not kept
  */
final class LateLog private[latelog] (
    val batchId: Long,
    val watermarkMicros: Option[Long],
    mode: LateMode,
    files: Option[LateFiles],
    private[spark] val reports: LateAccum
) extends Serializable {

  /** Opens the log in a task, which has to be the one that closes it. */
  def open(partition: Int): PartitionLate = {
    val task = Option(TaskContext.get())
    val late = new PartitionLate(this, partition, task.fold(-1)(_.stageId()))
    task.foreach { task =>
      task.addTaskFailureListener((_, _) => late.discard())
      task.addTaskCompletionListener[Unit](_ => late.close())
    }
    late
  }

  private[latelog] def create(partition: Int): Option[LateFile] =
    files.map(_.create(batchId, partition))

  private[latelog] def refuses: Boolean = mode == LateMode.Fail

  /** What stands beside a row for which nothing is known but why it is late. */
  private[latelog] def columns: LateColumns = new LateColumns(batchId, watermarkMicros)
}

/** The late rows of one task; it is written to by the task's thread only. */
final class PartitionLate private[latelog] (log: LateLog, partition: Int, stage: Int) {
  private var rows = Map.empty[LateReason, Long]
  private val columns = log.columns
  private var judge = log.watermarkMicros
  private var file = Option.empty[LateFile] // begun by the first row
  private var isOpen = true
  private var earliest = Long.MaxValue // of the late rows that have a time
  private var latest = Long.MinValue

  private var onTime = 0L
  private var lowest = Long.MaxValue
  private val lateBy = new LatenessHistogramBuilder

  /** A row of that time was not late. */
  def pass(micros: Long): Unit = pass(micros, rows = 1)

  /** So many rows were not late, the first of them at that time. */
  def pass(lowest: Long, rows: Long): Unit = {
    onTime += rows
    if (lowest < this.lowest) this.lowest = lowest
  }

  /** Says what the rows from here on are late against, where it is not the same for all. */
  def judgedBy(watermarkMicros: Option[Long]): Unit = {
    judge = watermarkMicros
    columns.judgedBy(watermarkMicros)
  }

  /** Takes a late row, which the caller may use again afterwards.
    *
    * @param row
    *   the columns that are kept, then the names of its substream and of its key
    * @param windowsMissed
    *   of how many windows it would have been
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

  /** Takes a row that has no time, or none that can be shown. */
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

  /** Ends the file, if there is one, and reports; a second time it does nothing. */
  def close(): Unit = if (isOpen) {
    isOpen = false
    if (rows.nonEmpty || onTime > 0) {
      val written = file.map(f => LateFileName(f.name, f.close(), times))
      log.reports.add(LateReport(partition, stage, written, rows, onTime, lowest, lateBy.counted))
    }
  }

  private def times: Option[TimeRange] =
    Option.when(earliest <= latest)(TimeRange(earliest, latest))

  /** The task has failed: what it wrote does not count. */
  private[latelog] def discard(): Unit = {
    isOpen = false
    file.foreach(_.discard())
  }
}
