package io.eventtide.spark.latelog

import scala.annotation.tailrec
import scala.util.{Failure, Success, Try}

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.Path

import io.eventtide.spark.EventtideException
import io.eventtide.spark.checkpoint.{BatchLedger, LedgerEntry}
import io.eventtide.spark.spi.LateTotals

/** Compares the ledger and the index of late rows for one batch; read-only. */
private[spark] object LateBalance {

  /** The ledger's totals after a committed batch. Works while the query is writing. */
  def ledgerTotals(root: Path, batchId: Long, conf: Configuration): LateTotals =
    entry(root, batchId, conf).late

  /** The ledger's entry of a committed batch. Works while the query is writing. */
  def entry(root: Path, batchId: Long, conf: Configuration): LedgerEntry =
    attempt(Attempts)(new BatchLedger(root, retain = 0, conf).entryOf(batchId))

  /** Fails if the totals of the index and of the ledger differ after a committed batch. */
  def check(root: Path, batchId: Long, conf: Configuration): Unit = {
    val ledger = ledgerTotals(root, batchId, conf)
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

  // A revision may be replaced between listing and reading it.
  @tailrec
  private def attempt[A](left: Int)(read: => A): A = Try(read) match {
    case Success(found) => found
    case Failure(_: EventtideException) if left > 1 => attempt(left - 1)(read)
    case Failure(error) => throw error
  }

  private val Attempts = 3
}
