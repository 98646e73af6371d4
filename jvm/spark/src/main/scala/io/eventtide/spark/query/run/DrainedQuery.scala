package io.eventtide.spark.query.run

import org.apache.spark.sql.eventtide.{BatchInfo, StreamExecutionAccess}

import io.eventtide.spark.EventtideException
import io.eventtide.spark.checkpoint.{EndOfInput, LedgerEntry}
import io.eventtide.spark.spi.PlanNodes

/** Whether a run closes every window after its last row, and whether its checkpoint is drained.
  *
  * The last batch of such a run has no rows and the highest possible watermark. The watermark is in
  * the offset log, so a replay closes all windows too. No batch follows it.
  */
private[query] final class DrainedQuery(query: StreamExecutionAccess) {
  private val isRequested = PlanNodes.drains(query.analyzedPlan)
  private var wasOver = false // whether the checkpoint was drained when the run began

  def drains: Boolean = isRequested

  /** Whether the last batch has been requested. */
  def isRaised: Boolean = EndOfInput.isAtEnd(query.watermarkMs)

  /** Refuses to run the last batch in a run that does not drain, and any batch after the last one.
    *
    * @param last
    *   the last batch that this run has ended
    */
  def check(begun: BatchInfo, last: Option[BatchInfo]): Unit =
    if (EndOfInput.isAtEnd(begun.watermarkMs)) {
      if (wasOver || last.exists(of => EndOfInput.isAtEnd(of.watermarkMs))) throw over
      if (!isRequested) throw EventtideException("DRAIN_UNFINISHED", "root" -> query.checkpointRoot)
    }

  /** Refuses to continue after the last batch. A run that drains may still look for rows: a
    * scheduler restarts it if the previous run was killed after its last commit. It then ends
    * without a batch.
    *
    * @param isBegun
    *   whether the batch after the entry has begun, so that the query has that batch's watermark
    */
  def check(last: LedgerEntry, isBegun: Boolean): Unit = {
    wasOver = last.isDrained || !isBegun && isRaised
    if (wasOver && (isBegun || !isRequested)) throw over
  }

  private def over = EndOfInput.refusal(query.checkpointRoot)
}
