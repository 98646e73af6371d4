package io.eventtide.spark.query.monitor

import com.fasterxml.jackson.databind.node.ObjectNode

import io.eventtide.kernel.window.FrameWindowState
import io.eventtide.spark.options.{WindowKind, WindowSettings}
import io.eventtide.spark.spi.{LaggingKey, NextTimer}

/** The next actions of a query, as of the time of the report. Times are in microseconds.
  *
  * @param nowMicros
  *   the query's clock; None if the query does not run
  * @param nextMove
  *   the time at which the clock advances the watermark without rows; None if only rows advance it
  * @param windows
  *   the next closing of each window; empty if the windows are not known
  * @param scopes
  *   the scope of the watermark that closes each window
  */
private[query] final case class Outlook(
    nowMicros: Option[Long],
    nextMove: Option[Long],
    windows: Seq[NextClosing],
    scopes: Seq[String] = Nil
) {

  /** As after the last batch of a run: the clock does nothing more. */
  def atEnd: Outlook =
    copy(scala.None, scala.None, windows = windows.map(_.copy(byClock = scala.None)))

  /** Whether there are windows and none of them uses the query's watermark. */
  def isByKey: Boolean = scopes.nonEmpty && !scopes.contains("global")

  /** Whether every window uses a watermark per group of keys. */
  def isByGroup: Boolean = scopes.forall(_ == "group")

  /** The first window that the query's watermark closes, if one is open. */
  def first: Option[NextClosing] =
    windows
      .filter(one => !one.settings.hasOwnTime && one.watermark != FrameWindowState.Never)
      .minByOption(_.watermark)
}

private[query] object Outlook {
  val None: Outlook = Outlook(scala.None, scala.None, Nil)
}

/** The next window to close.
  *
  * @param watermark
  *   the watermark that closes the window; `FrameWindowState.Never` if no window is open. If keys
  *   have their own watermarks, it is the lowest that closes a window of a key
  * @param byClock
  *   the time at which the clock closes the window without rows
  */
private[query] final case class NextClosing(
    settings: WindowSettings,
    next: NextTimer,
    watermark: Long,
    byClock: Option[Long]
) {

  /** A description of the window, with its bounds if they are known. */
  def window: String = NextClosing.windowAt(settings, watermark)

  /** For a page: the window, its open keys, and what closes next.
    *
    * @param aheadMicros
    *   the offset of the query's clock from the machine's clock
    */
  def write(node: ObjectNode, aheadMicros: Long): Unit = {
    val isOpen = watermark != FrameWindowState.Never
    node.put("window", settings.summary).put("next", window).put("hasOwnTime", settings.hasOwnTime)
    WatermarkReport.putTime(node, "closesAt", Option.when(isOpen)(watermark))
    WatermarkReport.putTime(node, "byClock", byClock.map(_ - aheadMicros))
    val keys = next.keys
    if (keys == NextTimer.Unknown) node.putNull("keys") else node.put("keys", keys): Unit
  }

  /** The keys with the lowest watermarks, the lowest first. */
  def lagging: Seq[LaggingKey] = next.lagging
}

private[query] object NextClosing {

  def apply(
      settings: WindowSettings,
      next: NextTimer,
      byClock: Long => Option[Long]
  ): NextClosing = {
    val watermark = settings.closesAt(next.end)
    val isOpen = watermark != FrameWindowState.Never
    val at = if (settings.hasOwnTime) Some(next.clockMicros) else byClock(watermark)
    NextClosing(settings, next, watermark, at.filter(time => isOpen && time != NextTimer.Never))
  }

  /** A description of the window that closes at a watermark. */
  def windowAt(settings: WindowSettings, watermark: Long): String = settings.windows match {
    case WindowKind.ByTime(_) =>
      val spec = settings.onTime
      val end = spec.closed(watermark)
      val (from, to) = (spec.grid.start(spec.shape.start(end)), spec.grid.start(end))
      val bounds = spec.profile.bounds.name
      s"window ${bounds.head}${WatermarkDiagnosis.time(from)}, ${WatermarkDiagnosis.time(to)}${bounds.last} UTC"
    case _: WindowKind.BySession => "a session"
    case _ => "a window"
  }
}
