package io.eventtide.spark.late

import java.io.ObjectOutputStream

import scala.collection.mutable

import org.apache.spark.util.AccumulatorV2

/** A file that counts.
  *
  * @param bytes
  *   its length, so that nobody has to ask the file system
  */
final case class LateFileName(name: String, bytes: Long)

/** What one partition of one batch had to say about its late rows.
  *
  * @param place
  *   which part of the plan the partition is of, where several find late rows
  */
final case class LateReport(
    place: Int,
    partition: Int,
    file: Option[LateFileName],
    rows: Map[LateReason, Long]
) {
  def total: Long = rows.valuesIterator.sum
}

/** Brings the reports of the tasks to the driver, one a partition.
  *
  * The fullest counts, and of those the last: a retried task, a stage that is run again and a
  * `foreachBatch` that reads its frame twice report the same rows again, a `first()` only the
  * beginning of them. What an attempt wrote whose report is replaced, is an orphan.
  */
final class LateAccum extends AccumulatorV2[LateReport, Seq[LateReport]] {
  private val reports = mutable.HashMap.empty[(Int, Int), LateReport]

  override def add(report: LateReport): Unit = synchronized {
    val partition = (report.place, report.partition)
    if (reports.get(partition).forall(_.total <= report.total)) reports(partition) = report
  }

  override def value: Seq[LateReport] = synchronized(reports.values.toSeq)

  override def isZero: Boolean = synchronized(reports.isEmpty)

  override def copy(): LateAccum = synchronized {
    val copied = new LateAccum
    copied.reports ++= reports
    copied
  }

  override def reset(): Unit = synchronized(reports.clear())

  override def merge(other: AccumulatorV2[LateReport, Seq[LateReport]]): Unit =
    other.value.foreach(add)

  // A heartbeat serialises the accumulator while its task may report.
  private def writeObject(out: ObjectOutputStream): Unit = synchronized(out.defaultWriteObject())
}
