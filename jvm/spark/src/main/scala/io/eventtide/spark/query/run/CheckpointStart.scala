package io.eventtide.spark.query.run

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.Path
import org.apache.spark.sql.eventtide.StreamExecutionAccess

import io.eventtide.spark.EventtideException
import io.eventtide.spark.checkpoint.{
  BatchLedger,
  CheckpointFiles,
  OffsetFiles,
  PlanFile,
  QueryPlan
}
import io.eventtide.spark.latelog.{LateBalance, LateIndexReader, LateRows}

/** What a run looks at in a checkpoint before it writes anything there.
  *
  * It looks once to be refused before it takes the checkpoint over, and anew once it has it: until then
  * another run may have begun batches.
  */
private[query] final class CheckpointStart(root: Path, conf: Configuration) {
  private val planFile = new PlanFile(root, conf)
  private val offsets = new OffsetFiles(root, conf)
  private val lastBegun = offsets.lastBatch
  private val lastCommitted = new CheckpointFiles(new Path(root, "commits"), conf).lastBatch

  /** Refuses a checkpoint of another query, and one that has lost what belongs to its batches. */
  def refuseOther(query: StreamExecutionAccess, plan: QueryPlan): Unit = lastBegun match {
    case None => refuseBatches()
    case Some(begun) =>
      planFile.refuseOther(plan)
      LateRows.refuseOther(query.analyzedPlan, query.id, root, conf)
      LateBalance.check(root, committedBefore(begun), conf)
  }

  // The last batch that is surely committed.
  private def committedBefore(begun: Long): Long =
    if (lastCommitted.contains(begun)) begun else begun - 1

  /** How long it is since the last batch, by the query's clock; None before there was one.
    *
    * @param nowMicros
    *   what the machine's clock shows
    */
  def sinceLast(nowMicros: Long): Option[Long] = lastBegun.flatMap { begun =>
    val clock = new QueryClock
    clock.restore(LateBalance.entry(root, committedBefore(begun), conf).clock)
    offsets.timeOf(begun).foreach(micros => clock.passed(clock.at(micros)))
    clock.sinceLast(nowMicros)
  }

  /** Begins on a checkpoint that this run has taken over: refuses it, or writes the plan where there is
    * no batch yet. With batches the plan that is there stays.
    */
  def begin(query: StreamExecutionAccess, plan: QueryPlan): Unit = {
    refuseOther(query, plan)
    if (lastBegun.isEmpty) planFile.begin(plan)
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
