package io.eventtide.spark.exec

import java.time.Instant
import java.time.temporal.ChronoUnit

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.BindReferences.bindReference
import org.apache.spark.sql.catalyst.expressions.{
  Attribute,
  Cast,
  Expression,
  UnsafeProjection,
  UnsafeRow
}
import org.apache.spark.sql.types.StringType

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
  private val maxSubstreams = settings.maxSubstreams
  private val keys = substream.map { expression =>
    bindReference(Cast(expression, StringType, Some("UTC")): Expression, input)
  }

  def open(report: PartitionRows): OpenReader =
    if (keys.isEmpty) new OneSubstream(report) else new ManySubstreams(report)

  /** Reads the rows of one partition. */
  abstract class OpenReader(report: PartitionRows) {
    private val limit = nowMicros.flatMap(now => guard.map(_.limit(now)))
    private val guarded = limit.isDefined
    private val latest = limit.getOrElse(Long.MaxValue)

    /** Takes the row into account; false when it is refused. */
    final def accept(row: InternalRow): Boolean =
      if (row.isNullAt(ordinal)) refuseBadTime()
      else {
        val time = row.getLong(ordinal)
        if (time < RowReader.MinMicros || time > RowReader.MaxMicros) refuseBadTime()
        else if (guarded && time > latest) fromTheFuture(row, time)
        else { rowsOf(row).add(time); true }
      }

    protected def rowsOf(row: InternalRow): TimeExtremes

    private def refuseBadTime(): Boolean = { report.badTime += 1; false }

    private def fromTheFuture(row: InternalRow, time: Long): Boolean = guard.get.mode match {
      case FutureGuard.Clamp => rowsOf(row).add(latest); true
      case FutureGuard.Late => report.future += 1; false
      case FutureGuard.Fail => throw RowReader.fromTheFuture(time, latest)
    }
  }

  private final class OneSubstream(report: PartitionRows) extends OpenReader(report) {
    private val rows = report.substream(SubstreamName.Whole)
    override protected def rowsOf(row: InternalRow): TimeExtremes = rows
  }

  /** One map access a row, none while the substream stays the same. */
  private final class ManySubstreams(report: PartitionRows) extends OpenReader(report) {
    private val key = UnsafeProjection.create(keys)
    private val known = new java.util.HashMap[UnsafeRow, Known]
    private var last = new Known(null, null)

    override protected def rowsOf(row: InternalRow): TimeExtremes = {
      val found = key(row)
      if (found != last.key) {
        val again = known.get(found)
        last = if (again == null) discover(found.copy()) else again
      }
      last.rows
    }

    private def discover(found: UnsafeRow): Known = {
      if (known.size == maxSubstreams)
        throw EventtideException("TOO_MANY_SUBSTREAMS", "max" -> maxSubstreams)
      val rows = new Known(found, report.substream(SubstreamName.of(found)))
      known.put(found, rows)
      rows
    }
  }
}

private final class Known(val key: UnsafeRow, val rows: TimeExtremes)

private[exec] object RowReader {

  /** The times that Spark can show: years 1 to 9999. */
  val MinMicros: Long = -62135596800000000L
  val MaxMicros: Long = 253402300799999999L

  private def fromTheFuture(time: Long, latest: Long): EventtideException =
    EventtideException("ROW_FROM_THE_FUTURE", "time" -> at(time), "limit" -> at(latest))

  private def at(micros: Long): Instant = Instant.EPOCH.plus(micros, ChronoUnit.MICROS)
}
