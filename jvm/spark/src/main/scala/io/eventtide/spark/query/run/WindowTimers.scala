package io.eventtide.spark.query.run

import io.eventtide.kernel.time.Clamped
import io.eventtide.spark.checkpoint.SavedTimer
import io.eventtide.spark.operators.WindowBatchContext
import io.eventtide.spark.options.{MutableOptionsCodec, WindowSettings}
import io.eventtide.spark.query.monitor.NextClosing
import io.eventtide.spark.spi.NextTimer

/** The next timers of each window of a query, by the window's position in the plan.
  *
  * While a query runs, Spark checks with its last batch whether the watermark closes a window. A
  * new run has no last batch. It may find no new rows, but windows that the committed watermark
  * already closes. So the ledger has the next timers, and such a run requests a batch.
  *
  * A run may use other options than the previous run. A replayed batch uses the options of the run
  * that began it, because the sink may already have its results.
  *
  *   - '''Edges:''' the watermark of a window above another window is lower than the query's, so
  *     the run may request one batch too many.
  *   - '''Restart:''' `save` and `restore`.
  *
  * @param isOnlyForWindows
  *   whether the watermark matters only if it closes a window
  */
private[query] final class WindowTimers(
    windows: IndexedSeq[WindowSettings],
    isOnlyForWindows: Boolean
) {

  /** The options with which this run begins batches, for each window. */
  val nextBatchOptions: IndexedSeq[String] = windows.map(MutableOptionsCodec.write)

  private var next = windows.map(_ => NextTimer.Nothing)
  private var lagging = windows.map(_ => Map.empty[Int, Seq[Array[Byte]]])
  private val ownTimingOptions = windows.map(_.timingOptions)
  private var timingOptions = ownTimingOptions // at the last change of the timers
  private var replayOptions = nextBatchOptions // of the unfinished batch of the last run
  private var canPollByClock = false
  private var lastPoll = Long.MinValue
  private var needsStartupBatch = false

  /** Restores the timers of an earlier run. If the timing options have changed since, other timers
    * may have expired, so the run requests a batch.
    *
    * @param watermarkMs
    *   the query's watermark at the start of the run
    */
  def restore(saved: Seq[SavedTimer], watermarkMs: Long): Unit = {
    next = saved.map(_.next).toIndexedSeq
    timingOptions = saved.map(_.timingOptions).toIndexedSeq
    replayOptions = saved.map(_.nextBatchOptions).toIndexedSeq
    canPollByClock = true
    val watermark = WindowBatchContext.known(watermarkMs)
    needsStartupBatch = timingChanged || windows.zip(next).exists { case (window, due) =>
      due.isClosed(watermark, window)
    }
  }

  private def timingChanged: Boolean = timingOptions != ownTimingOptions

  /** The settings of a window in this run, or in a replayed batch the settings of its first run. */
  def settings(window: Int, isReplayed: Boolean): WindowSettings = {
    val current = windows(window)
    if (isReplayed && replayOptions(window) != nextBatchOptions(window))
      MutableOptionsCodec.read(replayOptions(window), current)
    else current
  }

  /** Whether a replayed batch uses other options than the batches after it. */
  def hasOtherBatchOptions: Boolean = replayOptions != nextBatchOptions

  /** Takes the timers that the tasks of a batch reported; windows that did not run keep their
    * timers.
    */
  def take(reported: Map[Int, Map[Int, NextTimer]], isReplayed: Boolean): Unit = {
    timingOptions = timingOptions.zipWithIndex.map { case (known, i) =>
      if (reported.contains(i)) settings(i, isReplayed).timingOptions else known
    }
    if (isReplayed) needsStartupBatch = timingChanged
    next = nextWith(reported)
    lagging = lagging.zipWithIndex.map { case (before, i) =>
      reported.get(i).fold(before)(_.transform((_, due) => due.lagging.map(_.key)))
    }
    canPollByClock = true
  }

  private def nextWith(reported: Map[Int, Map[Int, NextTimer]]) =
    next.zipWithIndex.map { case (before, i) =>
      reported.get(i).fold(before)(partitions => NextTimer.together(partitions.values))
    }

  /** The keys of a window that are far behind, by partition. */
  def laggingKeys(window: Int): Map[Int, Seq[Array[Byte]]] = lagging(window)

  /** The next closing of each window.
    *
    * @param byClock
    *   the time at which the clock advances the watermark to a value
    * @param soFar
    *   the reports of tasks that still run, as in `take`
    */
  def closing(
      byClock: Long => Option[Long],
      soFar: Map[Int, Map[Int, NextTimer]]
  ): Seq[NextClosing] =
    windows.zip(nextWith(soFar)).map { case (window, due) => NextClosing(window, due, byClock) }

  /** The scope of the watermark that closes each window, as `MutableOptionsCodec.scope`. */
  def scopes: Seq[String] = nextBatchOptions.map(MutableOptionsCodec.scope)

  def hasWindows: Boolean = windows.nonEmpty

  /** The number of keys with open windows; None if it is not known yet.
    *
    * @param soFar
    *   the reports of tasks that still run, as in `take`
    */
  def openKeys(soFar: Map[Int, Map[Int, NextTimer]]): Option[Long] = {
    val each = nextWith(soFar).map(_.keys)
    Option.when(!each.contains(NextTimer.Unknown))(each.sum)
  }

  def save: Seq[SavedTimer] =
    next.zip(timingOptions).zip(nextBatchOptions).map { case ((due, by), begun) =>
      SavedTimer(due, by, begun)
    }

  /** Whether an advance of the watermark makes later rows late even if it closes no window. */
  def batchOnEveryAdvance(window: Int): Boolean =
    !isOnlyForWindows && windows(window).batchOnEveryAdvance

  /** The lowest watermark that requires a batch by itself; None if no watermark does. */
  def awaits: Option[Long] =
    if (!isOnlyForWindows) Some(0)
    else
      Some(next.zip(windows).map { case (due, window) => window.closesAt(due.end) }.min)
        .filter(_ < NextTimer.Never)

  /** Clears the startup request, because the planned batch fires the expired timers. */
  def planned(): Unit = needsStartupBatch = false

  /** Whether timers that had expired when the run began need a batch. Returns true at most once. */
  def pollStartupBatch(): Boolean = {
    val isNeeded = needsStartupBatch
    needsStartupBatch = false
    isNeeded
  }

  /** Whether a processing-time timer has expired at `nowMicros`. True at most once per batch. */
  def pollProcessingTimer(nowMicros: Long): Boolean = {
    val overdue = canPollByClock && next.zip(windows).exists { case (due, window) =>
      due.clockMicros <= nowMicros && earliestPoll(window) <= nowMicros
    }
    if (overdue) {
      canPollByClock = false
      lastPoll = nowMicros
    }
    overdue
  }

  private def earliestPoll(window: WindowSettings): Long =
    Clamped.add(lastPoll, window.pollIntervalMicros)
}
