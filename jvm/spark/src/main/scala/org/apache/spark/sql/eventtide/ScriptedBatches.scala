package org.apache.spark.sql.eventtide

/** The batches of a scripted query in real-time mode, which end when the script says so.
  *
  * Readers of the source call `await` on the threads of their tasks, the script calls the rest.
  */
final class ScriptedBatches {
  import ScriptedBatches._

  private var begun = NoBatch // the last batch whose readers wait for rows
  private var ended = NoBatch

  /** Waits for a row until the batch has to end.
    *
    * @param nextRow
    *   moves to the next row; whether there is one
    */
  def await(batchId: Long, nextRow: => Boolean): Boolean = synchronized {
    if (begun < batchId) {
      begun = batchId
      notifyAll()
    }
    var found = nextRow
    while (!found && ended < batchId) {
      wait()
      found = nextRow
    }
    found
  }

  /** Called before a run of the query starts. It may repeat a batch that was not committed. */
  private[eventtide] def beginRun(): Unit = synchronized {
    begun = NoBatch
    ended = NoBatch
  }

  /** Ends the running batch once all rows have been read, and waits until it is committed and the next
    * batch waits for rows; or until the run has ended.
    */
  private[eventtide] def next(isRunning: => Boolean): Unit = synchronized {
    while (begun == NoBatch && isRunning) wait(CheckMs)
    ended = begun
    notifyAll()
    while (begun == ended && isRunning) wait(CheckMs)
  }
}

private object ScriptedBatches {
  private val NoBatch = -1L
  private val CheckMs = 50L // how often a failure of the query is looked for
}
