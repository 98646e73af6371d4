package io.eventtide.spark.query.run

import io.eventtide.spark.checkpoint.LedgerEntry

/** Writes the state of a run to the ledger: at the end of each batch, and whenever the next batch
  * would start from a state that differs from the last entry.
  */
private[run] final class LedgerRecorder(run: RunState) {
  import run._

  private var recorded = Option.empty[RecordedState] // the state in the last entry

  /** Called before a batch is requested, or an idle trigger ends.
    *
    * The state that the next batch starts from must be in the ledger before Spark writes the
    * batch's offsets. It must be in an entry of this run: nothing may build on an entry of an
    * earlier run, which may still be running. Whether the sources have rows for that batch is
    * unknown here, so the epoch is also checked periodically.
    */
  def beforeBatch(isRequested: Boolean): Unit = {
    val last = query.nextBatchId - 1
    val isNew = !recorded.contains(stateAfter(last))
    if (isNew || isRequested) epoch.check() else epoch.checkOnceASecond(query.elapsedMs)
    if (isNew) write(last, whole = true, isCommitted = true)
  }

  /** Called at the end of a batch, before Spark commits it. */
  def endOfBatch(batchId: Long): Unit = {
    // In real-time mode, the state comes from a task, without what has changed in the batch.
    val whole = query.isRealTime || ledger.wantsWhole || !recorded.exists(_.isOf(clock))
    write(batchId, whole, isCommitted = false)
  }

  /** Rewrites the entry that a replayed batch started from, with the settings of this run.
    *
    * This run judges rows that the first run of the batch has refused. A third run that replays the
    * batch must judge them the same way. The driver of the first run may still process the batch,
    * and build on the entry's earlier revision.
    */
  def rewrite(last: LedgerEntry): Unit = {
    val entry = locked {
      last.copy(
        after = None,
        inputs = inputs.save(whole = true),
        settings = inputs.settings,
        completeness = completeness.save(whole = true)
      )
    }
    ledger.write(entry, isCommitted = false)
  }

  private def write(batchId: Long, whole: Boolean, isCommitted: Boolean): Unit = {
    val entry = locked(entryOf(batchId, whole))
    ledger.write(entry, isCommitted)
    locked {
      recorded = Some(stateAfter(batchId))
      if (hasReplayInputs) handOver(entry)
    }
  }

  private def entryOf(batchId: Long, whole: Boolean): LedgerEntry = {
    val after = if (whole) None else ledger.last
    LedgerEntry(
      batchId,
      after,
      hold.isHolding,
      inputs.emitted,
      inputs.save(after.isEmpty),
      late.onTime,
      late.totals,
      timers.save,
      if (after.isEmpty) inputs.settings else Nil,
      clock = clock.saved,
      reachedMicros = inputs.reached,
      judging = inputs.judging,
      completeness = completeness.save(after.isEmpty)
    )
  }

  // After the replayed batch of another run, this run continues with its own settings.
  private def handOver(whole: LedgerEntry): Unit = {
    ownInputs.restore(Seq(whole))
    inputs = ownInputs
    recorded = None
  }

  private def stateAfter(batchId: Long) =
    RecordedState(batchId, hold.isHolding, timers.nextBatchOptions, clock.saved.steps)
}

/** The recorded state from which the batch after `batchId` begins. */
private final case class RecordedState(
    batchId: Long,
    isHolding: Boolean,
    nextBatchOptions: Seq[String],
    clockSteps: Int
) {
  def isOf(clock: QueryClock): Boolean = clockSteps == clock.saved.steps
}
