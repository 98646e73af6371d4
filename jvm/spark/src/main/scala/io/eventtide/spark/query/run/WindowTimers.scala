package io.eventtide.spark.query.run

import io.eventtide.kernel.time.Clamped
import io.eventtide.spark.checkpoint.SavedTimer
import io.eventtide.spark.operators.WindowBatchContext
import io.eventtide.spark.options.WindowSettings
import io.eventtide.spark.query.monitor.NextClosing
import io.eventtide.spark.spi.NextTimer

/** When each window of a query next owes a result, by its position in the plan.
  *
  * While a query runs, Spark asks its last batch whether the watermark closes a window. A run that
  * begins has no last batch: it may find no new rows, and windows that the committed watermark closes
  * already. So what is next due is in the ledger, and such a run asks for a batch by itself.
  *
  * A run may choose otherwise than the one before, but a batch that was begun by one goes by the choices
  * of that one: its sink may have what came out of it.
  *
  *   - '''Edges:''' a window above another sees a lower watermark than the query's, so that its run may
  *     ask for one batch too many.
  *   - '''Restart:''' `save` and `restore`.
  *
  * @param isOnlyForWindows
  *   whether the watermark matters only where it closes a window
  */
private[query] final class WindowTimers(
    windows: IndexedSeq[WindowSettings],
    isOnlyForWindows: Boolean
) {

  /** By which choices this run begins batches. */
  val begins: IndexedSeq[String] = windows.map(_.choices)

  private var next = windows.map(_ => NextTimer.Nothing)
  private var lagging = windows.map(_ => Map.empty[Int, Seq[Array[Byte]]])
  private val own = windows.map(_.rules)
  private var rules = own // by which keys were last turned to
  private var left = begins // by which the batch was begun that the last run left
  private var asksByClock = false
  private var lastPoll = Long.MinValue
  private var asksAtStart = false

  /** Takes what a run before this one has saved; its watermark is known. By other rules something else
    * may be due.
    */
  def restore(saved: Seq[SavedTimer], watermarkMs: Long): Unit = {
    next = next.zipWithIndex.map { case (nothing, i) => saved.lift(i).fold(nothing)(_.next) }
    rules = rules.zipWithIndex.map { case (known, i) => saved.lift(i).fold(known)(_.rules) }
    left = left.zipWithIndex.map { case (mine, i) =>
      saved.lift(i).map(_.begins).filter(_.nonEmpty).getOrElse(mine)
    }
    asksByClock = true
    val watermark = WindowBatchContext.known(watermarkMs)
    asksAtStart = timingChanged || windows.zip(next).exists { case (window, due) =>
      due.isClosed(watermark, window)
    }
  }

  private def timingChanged: Boolean = rules != own

  /** A window as this run has it, or in a batch that is run again as that was begun. */
  def settings(window: Int, isRunAgain: Boolean): WindowSettings = {
    val asked = windows(window)
    if (isRunAgain && left(window) != begins(window)) asked.by(left(window)) else asked
  }

  /** Whether a batch that is run again goes by other choices than those after it. */
  def wasBegunByOthers: Boolean = left != begins

  /** Takes what the tasks of a batch have reported; windows that did not run owe what they did. */
  def take(reported: Map[Int, Map[Int, NextTimer]], isRunAgain: Boolean): Unit = {
    rules = rules.zipWithIndex.map { case (known, i) =>
      if (reported.contains(i)) settings(i, isRunAgain).rules else known
    }
    if (isRunAgain) asksAtStart = timingChanged
    next = next.zipWithIndex.map { case (before, i) =>
      reported.get(i).fold(before)(partitions => NextTimer.together(partitions.values))
    }
    lagging = lagging.zipWithIndex.map { case (before, i) =>
      reported.get(i).fold(before)(_.transform((_, due) => due.lagging.map(_.key)))
    }
    asksByClock = true
  }

  /** The keys of a window that are far behind, by partition. */
  def laggingKeys(window: Int): Map[Int, Seq[Array[Byte]]] = lagging(window)

  /** What each window closes next.
    *
    * @param byClock
    *   when the clock moves the watermark to a value
    */
  def closing(byClock: Long => Option[Long]): Seq[NextClosing] =
    windows.zip(next).map { case (window, due) => NextClosing(window, due, byClock) }

  /** Whose watermark closes each window. */
  def scopes: Seq[String] = begins.map(WindowSettings.scope)

  def hasWindows: Boolean = windows.nonEmpty

  /** How many keys have open windows; None where that is not known yet. */
  def openKeys: Option[Long] = {
    val each = next.map(_.keys)
    Option.when(!each.contains(NextTimer.Unknown))(each.sum)
  }

  def save: Seq[SavedTimer] =
    next.zip(rules).zip(begins).map { case ((due, by), begun) => SavedTimer(due, by, begun) }

  /** Whether a watermark that closes no window makes rows late that come after it. */
  def batchOnEveryAdvance(window: Int): Boolean =
    !isOnlyForWindows && windows(window).batchOnEveryAdvance

  /** The lowest watermark that is worth a batch by itself; None while none is. */
  def awaits: Option[Long] =
    if (!isOnlyForWindows) Some(0)
    else
      Some(next.zip(windows).map { case (due, window) => window.closesAt(due.end) }.min)
        .filter(_ < NextTimer.Never)

  /** A batch is planned, which gives what is due. */
  def planned(): Unit = asksAtStart = false

  /** Whether a batch is to be run for what was due when the run began; says so once. */
  def pollStartupBatch(): Boolean = {
    val owed = asksAtStart
    asksAtStart = false
    owed
  }

  /** Whether a batch at this time or later gives something by the clock; says so once a batch. */
  def pollProcessingTimer(nowMicros: Long): Boolean = {
    val overdue = asksByClock && next.zip(windows).exists { case (due, window) =>
      due.clockMicros <= nowMicros && earliestPoll(window) <= nowMicros
    }
    if (overdue) {
      asksByClock = false
      lastPoll = nowMicros
    }
    overdue
  }

  private def earliestPoll(window: WindowSettings): Long =
    Clamped.add(lastPoll, window.pollIntervalMicros)
}
