package io.eventtide.spark.exec

import java.time.Instant
import java.time.temporal.ChronoUnit

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{Attribute, Expression}

import io.eventtide.kernel.watermark.FutureGuard
import io.eventtide.spark.EventtideException
import io.eventtide.spark.options.WatermarkSettings

/** How to read event time and substream from a row: made once on the driver, opened by each task.
  *
  * @param nowMicros
  *   the batch's timestamp, by which a row from the future is known
  */
private[exec] final class RowReader(
    input: Seq[Attribute],
    eventTime: Attribute,
    substream: Seq[Expression],
    settings: WatermarkSettings,
    nowMicros: Option[Long]
) extends Serializable {

  private val ordinal = input.indexWhere(_.exprId == eventTime.exprId)
  private val guard = settings.guard
  private val keys = new SubstreamKeys(input, substream, settings.maxSubstreams)

  def open(report: PartitionRows): OpenReader = new OpenReader(report, keys.open(report))

  /** Reads the rows of one partition. */
  final class OpenReader(report: PartitionRows, finder: SubstreamFinder) {
    private val limit = nowMicros.flatMap(now => guard.map(_.limit(now)))
    private val guarded = limit.isDefined
    private val latest = limit.getOrElse(Long.MaxValue)

    /** Takes the row into account; false when it is refused. */
    def accept(row: InternalRow): Boolean =
      if (row.isNullAt(ordinal)) refuseBadTime()
      else {
        val time = row.getLong(ordinal)
        if (time < RowReader.MinMicros || time > RowReader.MaxMicros) refuseBadTime()
        else if (guarded && time > latest) fromTheFuture(row, time)
        else { finder.rowsOf(row).add(time); true }
      }

    private def refuseBadTime(): Boolean = { report.badTime += 1; false }

    private def fromTheFuture(row: InternalRow, time: Long): Boolean = guard.get.mode match {
      case FutureGuard.Clamp => finder.rowsOf(row).add(latest); true
      case FutureGuard.Late => report.future += 1; false
      case FutureGuard.Fail => throw RowReader.fromTheFuture(time, latest)
    }
  }
}

private[exec] object RowReader {

  /** The times that Spark can show: years 1 to 9999. */
  val MinMicros: Long = -62135596800000000L
  val MaxMicros: Long = 253402300799999999L

  private def fromTheFuture(time: Long, latest: Long): EventtideException =
    EventtideException("ROW_FROM_THE_FUTURE", "time" -> at(time), "limit" -> at(latest))

  private def at(micros: Long): Instant = Instant.EPOCH.plus(micros, ChronoUnit.MICROS)
}
