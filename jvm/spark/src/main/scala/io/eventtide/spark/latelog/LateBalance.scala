package io.eventtide.spark.latelog

import scala.annotation.tailrec
import scala.util.{Failure, Success, Try}

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.Path

import io.eventtide.spark.EventtideException
import io.eventtide.spark.checkpoint.{BatchLedger, LedgerEntry}
import io.eventtide.spark.spi.LateTotals

/** What the ledger and the index of late rows say of the same batch; reads only. */
private[spark] object LateBalance {

  /** What there is after a committed batch by the ledger, also while its query writes it. */
  def ofLedger(root: Path, batchId: Long, conf: Configuration): LateTotals =
    entry(root, batchId, conf).late

  /** The ledger's entry of a committed batch, also while its query writes it. */
  def entry(root: Path, batchId: Long, conf: Configuration): LedgerEntry =
    attempt(Attempts)(new BatchLedger(root, retain = 0, conf).entryOf(batchId))

  /** Refuses an index that has less or more after a committed batch than the ledger says. */
  def check(root: Path, batchId: Long, conf: Configuration): Unit = {
    val ledger = ofLedger(root, batchId, conf)
    val index = new LateIndexReader(root, conf).totals(batchId)
    if (ledger != index) {
      throw EventtideException(
        "LATE_INDEX_UNBALANCED",
        "root" -> root,
        "batch" -> batchId,
        "ledger" -> ledger.text,
        "index" -> index.text
      )
    }
  }

  // A revision may be replaced between the moments at which it is listed and read.
  @tailrec
  private def attempt[A](left: Int)(read: => A): A = Try(read) match {
    case Success(found) => found
    case Failure(_: EventtideException) if left > 1 => attempt(left - 1)(read)
    case Failure(error) => throw error
  }

  private val Attempts = 3
}
