package io.eventtide.spark.query

import io.eventtide.kernel.time.Clamped
import io.eventtide.spark.exec.NextDue
import io.eventtide.spark.options.WindowSettings

/** When each window of a query next owes a result, by its position in the plan.
  *
  * While a query runs, Spark asks its last batch whether the watermark closes a window. A run that
  * begins has no last batch: it may find no new rows, and windows that the committed watermark closes
  * already. So what is next due is in the ledger, and such a run asks for a batch by itself.
  *
  *   - '''Edges:''' a window above another sees a lower watermark than the query's, so that its run may
  *     ask for one batch too many.
  *   - '''Restart:''' `save` and `restore`.
  */
private[query] final class DueWindows(windows: IndexedSeq[WindowSettings]) {
  private var next = windows.map(_ => NextDue.Nothing)
  private var rules = windows.map(_.rules) // by which keys were last turned to
  private var asksByClock = false
  private var lastBeat = Long.MinValue
  private var asksAtStart = false

  /** Takes what a run before this one has saved; its watermark is known. By other rules something else
    * may be due.
    */
  def restore(saved: Seq[SavedDue], watermarkMs: Long): Unit = {
    next = next.zipWithIndex.map { case (nothing, i) => saved.lift(i).fold(nothing)(_.next) }
    rules = rules.zipWithIndex.map { case (known, i) => saved.lift(i).fold(known)(_.rules) }
    asksByClock = true
    val watermark = WindowBatch.known(watermarkMs)
    asksAtStart = hasOtherRules || windows.zip(next).exists { case (window, due) =>
      due.isClosed(watermark, window)
    }
  }

  private def hasOtherRules: Boolean = rules != windows.map(_.rules)

  /** Takes what the tasks of a batch have reported; windows that did not run owe what they did.
    *
    * @param isRunAgain
    *   whether the batch was begun by a run before, and went by the rules of that one
    */
  def take(reported: Map[Int, Map[Int, NextDue]], isRunAgain: Boolean): Unit = {
    if (isRunAgain) asksAtStart = hasOtherRules
    else
      rules = rules.zipWithIndex.map { case (known, i) =>
        if (reported.contains(i)) windows(i).rules else known
      }
    next = next.zipWithIndex.map { case (before, i) =>
      reported.get(i).fold(before)(partitions => NextDue.earliest(partitions.values))
    }
    asksByClock = true
  }

  def hasWindows: Boolean = windows.nonEmpty

  def save: Seq[SavedDue] =
    next.zip(rules).map { case (due, by) => SavedDue(due, by) }

  /** A batch is planned, which gives what is due. */
  def planned(): Unit = asksAtStart = false

  /** Whether a batch is to be run for what was due when the run began; says so once. */
  def takeOwed(): Boolean = {
    val owed = asksAtStart
    asksAtStart = false
    owed
  }

  /** Whether a batch at this time or later gives something by the clock; says so once a batch. */
  def takeOverdue(nowMicros: Long): Boolean = {
    val overdue = asksByClock && next.zip(windows).exists { case (due, window) =>
      due.clockMicros <= nowMicros && earliestBeat(window) <= nowMicros
    }
    if (overdue) {
      asksByClock = false
      lastBeat = nowMicros
    }
    overdue
  }

  private def earliestBeat(window: WindowSettings): Long =
    Clamped.add(lastBeat, window.beatMicros)
}

/** What a window owes next, and by which rules; see `KeyTimeSettings.rules`. */
private[query] final case class SavedDue(next: NextDue, rules: String)
