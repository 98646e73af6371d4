package io.eventtide.spark.query.run

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.Path
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.eventtide.StreamExecutionAccess

import io.eventtide.kernel.time.FrameGrid
import io.eventtide.spark.EventtideException
import io.eventtide.spark.checkpoint.{
  BatchLedger,
  CheckpointFiles,
  CheckpointLinks,
  CheckpointStructure,
  HistoryMark,
  OffsetFiles,
  PlanFile
}
import io.eventtide.spark.latelog.{LateBalance, LateIndexReader, LateRows}
import io.eventtide.spark.spi.PlanNodes

/** The checks of a run on its checkpoint, before the run writes anything there.
  *
  * A run checks once before it takes the checkpoint over, so that an invalid run is refused first.
  * It checks again after the takeover, because until then another run may have started batches.
  */
private[query] final class CheckpointStart(root: Path, conf: Configuration) {
  CheckpointLinks.refuse(root, conf)

  private val offsets = new OffsetFiles(root, conf)
  private val lastBegun = offsets.lastBatch
  private val lastCommitted = new CheckpointFiles(new Path(root, "commits"), conf).lastBatch
  private val history = new HistoryMark(root, conf)
  private val planFile = new PlanFile(root, lastBegun.fold(-1L)(committedBefore), conf)

  /** Refuses a checkpoint of another query, and a checkpoint with missing files of its batches. */
  def refuseOther(query: StreamExecutionAccess, plan: CheckpointStructure): Unit = lastBegun match {
    case None => refuseBatches()
    case Some(begun) =>
      planFile.refuseOther(plan, unfinished = Some(begun).filterNot(lastCommitted.contains))
      refuseHistory(begun, PlanNodes.backfills(query.analyzedPlan))
      LateRows.refuseOther(query.analyzedPlan, query.id, root, conf)
      LateBalance.check(root, committedBefore(begun), conf)
  }

  private def refuseHistory(begun: Long, backfills: Boolean): Unit =
    if (backfills) {
      if (!history.exists || history.isInStream(begun))
        throw EventtideException("BACKFILL_CHECKPOINT_USED", "root" -> root, "batch" -> begun)
    } else if (history.exists && history.isInHistory(begun))
      throw EventtideException("BACKFILL_UNFINISHED", "root" -> root)

  // The last batch that is certain to be committed.
  private def committedBefore(begun: Long): Long =
    if (lastCommitted.contains(begun)) begun else begun - 1

  /** The time since the last batch, by the query's clock; None before the first batch.
    *
    * @param nowMicros
    *   the time by the machine's clock
    */
  def sinceLast(nowMicros: Long): Option[Long] = lastBegun.flatMap { begun =>
    val clock = new QueryClock
    clock.restore(BatchLedger.reading(root, conf)(_.entryOf(committedBefore(begun))).clock)
    offsets.timeOf(begun).foreach(micros => clock.passed(clock.at(micros)))
    clock.sinceLast(nowMicros)
  }

  /** Checks a checkpoint that this run has taken over. Writes the plan if it is new or has changed.
    * Returns the plan with the history of its windows.
    */
  def begin(query: StreamExecutionAccess, plan: CheckpointStructure): CheckpointStructure = {
    refuseOther(query, plan)
    lastBegun match {
      case Some(begun) => planFile.continue(plan, closedBefore(begun, query.analyzedPlan))
      case None =>
        planFile.begin(plan)
        history.begin(PlanNodes.backfills(query.analyzedPlan))
        plan
    }
  }

  private def closedBefore(begun: Long, plan: LogicalPlan)(grid: FrameGrid): Option[Long] =
    PlanNodes.windows(plan).headOption.flatMap { window =>
      offsets.closedBy(committedBefore(begun), window.settings)(grid)
    }

  private def refuseBatches(): Unit = {
    val ledger = new BatchLedger(root, retain = 0, conf).lastBatch.filter(_ >= 0)
    val index = new LateIndexReader(root, conf).last
    val found =
      Seq("commits" -> lastCommitted, "eventtide/ledger" -> ledger, "eventtide/late" -> index)
    found.collectFirst { case (folder, Some(batch)) =>
      throw EventtideException(
        "CHECKPOINT_WITHOUT_OFFSETS",
        "root" -> root,
        "folder" -> folder,
        "batch" -> batch
      )
    }
  }
}
