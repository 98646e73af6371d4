package io.eventtide.spark.query.run

import org.apache.spark.sql.eventtide.{BatchInfo, StreamExecutionAccess}

import io.eventtide.spark.EventtideException
import io.eventtide.spark.checkpoint.{EndOfInput, LedgerEntry}
import io.eventtide.spark.spi.PlanNodes

/** Whether a run closes every window after its last row, and whether its checkpoint has come to that.
  *
  * The last batch of such a run has no rows and the highest watermark that there is, which is in its
  * offsets: run again, it closes all windows too. No batch comes after it.
  */
private[query] final class DrainedQuery(query: StreamExecutionAccess) {
  private val isAsked = PlanNodes.drains(query.analyzedPlan)
  private var wasOver = false // when the run began

  def drains: Boolean = isAsked

  /** Whether the last batch has been asked for. */
  def isRaised: Boolean = EndOfInput.isAtEnd(query.watermarkMs)

  /** Refuses to run a last batch without being asked to, and any batch after it.
    *
    * @param last
    *   the last batch that this run has ended
    */
  def check(begun: BatchInfo, last: Option[BatchInfo]): Unit =
    if (EndOfInput.isAtEnd(begun.watermarkMs)) {
      if (wasOver || last.exists(of => EndOfInput.isAtEnd(of.watermarkMs))) throw over
      if (!isAsked) throw EventtideException("DRAIN_UNFINISHED", "root" -> query.checkpointRoot)
    }

  /** Refuses to go on after the last batch. A run that drains may look for rows: a scheduler starts it
    * once more if the one before was killed after its last commit, and it ends without a batch.
    *
    * @param isBegun
    *   whether the batch after the entry has been begun, so that the query's watermark is its
    */
  def check(last: LedgerEntry, isBegun: Boolean): Unit = {
    wasOver = last.isDrained || !isBegun && isRaised
    if (wasOver && (isBegun || !isAsked)) throw over
  }

  private def over = EndOfInput.refusal(query.checkpointRoot)
}
