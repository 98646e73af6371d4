package io.eventtide.spark.query.lab

import scala.collection.mutable

import org.apache.spark.sql.Row
import org.apache.spark.sql.types.{IntegerType, LongType, StructType}

import io.eventtide.kernel.lab.ReplayedWindows
import io.eventtide.kernel.window.WindowSpec
import io.eventtide.spark.options.{SubstreamDescription, WatermarkOptionsCodec}

/** Replays recorded rows under several policies, in one pass.
  *
  * @param policies
  *   the options of each, as `WatermarkOptionsCodec` reads them
  * @param interval
  *   the time from one batch to the next, in microseconds
  */
private[spark] final case class Replay(
    policies: Seq[Map[String, String]],
    substreams: SubstreamDescription,
    spec: WindowSpec,
    interval: Long
) {

  /** Replays groups of rows in the order of their batches; the result has a row for each policy. */
  def over(groups: Iterator[Row]): Iterator[Row] = {
    val ordered = groups.buffered
    val refused =
      Replay.takeWhile(ordered)(_.isNullAt(Replay.Batch)).map(_.getLong(Replay.Rows)).sum
    val first = ordered.headOption.map(_.getLong(Replay.Batch))
    val replays = policies.map { options =>
      val settings = WatermarkOptionsCodec.watermark(options, substreams)
      new PolicyReplay(settings, spec, first.getOrElse(0L) - interval, interval)
    }
    while (ordered.hasNext) {
      val now = ordered.head.getLong(Replay.Batch)
      val rows =
        BatchRows.of(Replay.takeWhile(ordered)(_.getLong(Replay.Batch) == now).map(Replay.group))
      replays.foreach(_.batch(now, rows))
    }
    replays.foreach(_.end())
    replays.zipWithIndex.iterator.map { case (of, i) => Replay.result(i, of, refused) }
  }
}

private[spark] object Replay {

  /** The columns of the groups, in their order: the batch is null for rows that lack a time. */
  val Columns: Seq[String] =
    Seq("batch", "frame", "substream", "rows", "lowest", "highest", "new_keys")

  private val Batch = 0
  private val Rows = 3

  val Result: StructType = new StructType()
    .add("policy", IntegerType, nullable = false)
    .add("rows", LongType, nullable = false)
    .add("late", LongType, nullable = false)
    .add("refused", LongType, nullable = false)
    .add("windows", LongType, nullable = false)
    .add("delay_p50", LongType)
    .add("delay_p90", LongType)
    .add("delay_p99", LongType)
    .add("open", LongType, nullable = false)
    .add("most_open", LongType, nullable = false)
    .add("most_frames", LongType, nullable = false)
    .add("most_keys", LongType, nullable = false)

  private def takeWhile(rows: scala.collection.BufferedIterator[Row])(matches: Row => Boolean) = {
    val taken = mutable.ArrayBuffer.empty[Row]
    while (rows.hasNext && matches(rows.head)) taken += rows.next()
    taken.toSeq
  }

  private def group(row: Row): RowGroup = RowGroup(
    row.getLong(Batch),
    row.getLong(1),
    row.getString(2),
    row.getLong(Rows),
    row.getLong(4),
    row.getLong(5),
    row.getLong(6)
  )

  private def result(policy: Int, of: PolicyReplay, refused: Long): Row = {
    val windows: ReplayedWindows = of.windows
    val counts = Seq(of.onTime + of.late + refused, of.late, refused, windows.delays.count)
    val delays = Seq(0.5, 0.9, 0.99).map(windows.delays.quantile(_).map(Long.box).orNull)
    val state = Seq(windows.open, windows.mostOpen, windows.mostFrames, windows.mostKeys)
    Row.fromSeq(policy +: (counts.map(Long.box) ++ delays ++ state.map(Long.box)))
  }
}
