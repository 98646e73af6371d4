package io.eventtide.spark.query.history

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.Path

import io.eventtide.spark.EventtideException
import io.eventtide.spark.checkpoint.{
  BatchLedger,
  CheckpointPath,
  CheckpointStructure,
  LedgerEntry,
  OffsetFiles,
  PlanFile
}
import io.eventtide.spark.latelog.LateIndexReader
import io.eventtide.spark.query.monitor.WatermarkReport
import io.eventtide.spark.query.run.QueryInputs

/** The watermarks of a query after its last committed batches, the oldest first: those that the
  * ledger still has. Spark's setting `minBatchesToRetain` says how many.
  *
  * @param root
  *   the checkpoint location
  * @param plan
  *   the plan of the checkpoint
  * @param batches
  *   for each batch, a full entry and the entries after it, up to that of the batch
  * @param timeOf
  *   the time of a batch in microseconds; 0 if it is not known
  */
private[query] final class WatermarkHistory(
    val root: Path,
    val plan: CheckpointStructure,
    batches: IndexedSeq[Seq[LedgerEntry]],
    timeOf: Long => Long
) {

  /** The report on the last batch; None without a batch. */
  def last: Option[WatermarkReport] = batches.lastOption.map(report)

  /** The report on each batch; each is made when it is asked for, because it may be large. */
  def reports: Iterator[WatermarkReport] = batches.iterator.map(report)

  /** The first batch at whose end the watermark had reached a time; None if it has not. */
  def reached(micros: Long): Option[Reached] = {
    val target = QueryInputs.wholeMs(micros)
    batches.indexWhere(_.last.emittedMicros.exists(_ >= target)) match {
      case -1 => None
      case 0 => Some(Reached.Before(report(batches.head)))
      case at =>
        Some(Reached.In(WatermarkMove(report(batches(at - 1)), report(batches(at)), target)))
    }
  }

  private def report(entries: Seq[LedgerEntry]): WatermarkReport =
    BatchLedger.decode(root, entries) {
      LedgerReport.of(entries, LedgerReport.settingsOf(entries), timeOf(entries.last.batchId))
    }
}

private[query] object WatermarkHistory {

  /** Reads a checkpoint, whose query may be running. */
  def read(checkpoint: Path, conf: Configuration): WatermarkHistory = {
    val root = CheckpointPath.root(checkpoint, conf)
    val offsets = new OffsetFiles(root, conf)
    if (offsets.lastBatch.isEmpty) throw EventtideException("CHECKPOINT_EMPTY", "root" -> root)
    val committed = new LateIndexReader(root, conf).lastCommitted.getOrElse(-1L)
    val plan = new PlanFile(root, committed, conf).plan
    val chains = BatchLedger.reading(root, conf)(_.chains(committed))
    new WatermarkHistory(root, plan, chains.toIndexedSeq, offsets.timeOf(_).getOrElse(0L))
  }
}

/** When a watermark reached a time. */
private[history] sealed trait Reached

private[history] object Reached {

  /** In the oldest batch that is known, or before. */
  final case class Before(oldest: WatermarkReport) extends Reached

  final case class In(move: WatermarkMove) extends Reached
}
