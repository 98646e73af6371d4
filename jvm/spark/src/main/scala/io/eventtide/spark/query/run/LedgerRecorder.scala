package io.eventtide.spark.query.run

import io.eventtide.spark.checkpoint.LedgerEntry

/** Writes the state of a run into the ledger: at the end of each batch, and whenever the next batch would
  * start from something else than the last entry says.
  */
private[run] final class LedgerRecorder(run: RunState) {
  import run._

  private var recorded = Option.empty[RecordedState] // of the last entry

  /** Before a batch is asked for, or an idle trigger ends.
    *
    * What the next batch starts from has to be in the ledger before Spark writes its offsets, in an entry
    * of this run's own: nothing follows an entry of an earlier run, which may not have ended. Whether the
    * sources have rows for that batch is not known here, so that the epoch is looked at now and then as
    * well.
    */
  def beforeBatch(isAsked: Boolean): Unit = {
    val last = query.nextBatchId - 1
    val isNew = !recorded.contains(stateAfter(last))
    if (isNew || isAsked) epoch.check() else epoch.checkOnceASecond(query.elapsedMs)
    if (isNew) write(last, whole = true, isCommitted = true)
  }

  /** At the end of a batch, before Spark commits it. */
  def endOfBatch(batchId: Long): Unit = {
    val whole = ledger.wantsWhole || !recorded.exists(_.isOf(clock))
    write(batchId, whole, isCommitted = false)
  }

  /** Writes the entry that a replayed batch started from once more, with the settings of this run.
    *
    * This run judges rows that the run which began the batch has refused. If a third run has to replay
    * the batch, it has to judge them alike. The driver that began the batch may still be at it, and build
    * on the entry as it was.
    */
  def rewrite(last: LedgerEntry): Unit = {
    val entry = locked {
      last.copy(after = None, inputs = inputs.save(whole = true), settings = inputs.settings)
    }
    ledger.write(entry, isCommitted = false)
  }

  private def write(batchId: Long, whole: Boolean, isCommitted: Boolean): Unit = {
    val entry = locked(entryOf(batchId, whole))
    ledger.write(entry, isCommitted)
    locked {
      recorded = Some(stateAfter(batchId))
      if (hasInputsOfOtherRun) handOver(entry)
    }
  }

  private def entryOf(batchId: Long, whole: Boolean): LedgerEntry = {
    val after = if (whole) None else ledger.last
    LedgerEntry(
      batchId,
      after,
      hold.holding,
      inputs.emitted,
      inputs.save(after.isEmpty),
      late.onTime,
      late.totals,
      timers.save,
      if (after.isEmpty) inputs.settings else Nil,
      clock = clock.saved
    )
  }

  // After the batch that another run has begun, this run goes on by its own settings.
  private def handOver(whole: LedgerEntry): Unit = {
    ownInputs.restore(Seq(whole))
    inputs = ownInputs
    recorded = None
  }

  private def stateAfter(batchId: Long) =
    RecordedState(batchId, hold.holding, timers.begins, clock.saved.steps)
}

/** How the batch after one is begun, as it was written down. */
private final case class RecordedState(
    batchId: Long,
    held: Boolean,
    begins: Seq[String],
    clockSteps: Int
) {
  def isOf(clock: QueryClock): Boolean = clockSteps == clock.saved.steps
}
