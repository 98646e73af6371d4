package io.eventtide.spark.latelog

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.Path

import io.eventtide.spark.EventtideException
import io.eventtide.spark.checkpoint.BatchLedger

/** Compares the ledger and the index of late rows for one batch; read-only. */
private[spark] object LateBalance {

  /** Fails if the totals of the index and of the ledger differ after a committed batch. */
  def check(root: Path, batchId: Long, conf: Configuration): Unit = {
    val ledger = BatchLedger.reading(root, conf)(_.entryOf(batchId)).late
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
}
