package io.eventtide.spark.query.run

import io.eventtide.spark.checkpoint.LedgerEntry

/** The start of a run from its checkpoint. The checkpoint is new, or its last batch is committed,
  * or an earlier run began a batch that this run replays.
  */
private[run] final class Restore(run: RunState, recorder: LedgerRecorder) {
  import run._

  private var isDone = false

  /** Restores the state when Spark first looks for new data, if there was no batch to replay. */
  def ifNotDone(nowMicros: Long): Unit =
    if (!isDone) {
      if (query.nextBatchId > 0) restore(query.nextBatchId, isBegun = false): Unit
      else begin(nowMicros)
    }

  /** Restores the state for a replayed batch, which Spark runs before it looks for new data. */
  def replayIfNotDone(batchId: Long): Unit = if (!isDone) {
    val entries = restore(batchId, isBegun = true)
    locked {
      replay(batchId)
      hold.replay(wasHolding = entries.last.isHolding)
    }
    if (hasReplayInputs && inputs.settings != entries.head.settings)
      recorder.rewrite(entries.last)
  }

  private def begin(nowMicros: Long): Unit = {
    ledger.refresh()
    late.restore(below = 0, onTime = 0)
    locked {
      inputs.begin(nowMicros)
      clock.passed(nowMicros)
      isDone = true
    }
  }

  private def restore(next: Long, isBegun: Boolean): Seq[LedgerEntry] = epoch.owning {
    val entries = ledger.restore(below = next)
    drain.check(entries.last, isBegun)
    if (timers.hasWindows) entries.last.checkState()
    late.restore(below = next, entries.last.rowsOnTime)
    locked {
      ledger.decode(entries)(restoreFrom(entries, isBegun))
      isDone = true
    }
    entries
  }

  private def restoreFrom(entries: Seq[LedgerEntry], isBegun: Boolean): Unit = {
    val begunBy = entries.head.settings
    if (isBegun && begunBy != ownInputs.settings) inputs = ownInputs.inBatchBegunBy(begunBy)
    inputs.restore(entries)
    clock.restore(entries.last.clock)
    timers.restore(entries.last.due, query.watermarkMs)
    completeness.restore(entries.map(_.completeness))
  }
}
