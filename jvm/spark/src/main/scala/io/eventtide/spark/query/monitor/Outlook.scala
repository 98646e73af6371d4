package io.eventtide.spark.query.monitor

import io.eventtide.kernel.window.FrameWindowState
import io.eventtide.spark.options.{WindowKind, WindowSettings}
import io.eventtide.spark.spi.{LaggingKey, NextTimer}

/** What a query will do next, as of the moment it was asked; times in microseconds.
  *
  * @param nowMicros
  *   the query's clock; None where the query does not run
  * @param nextMove
  *   when the clock moves the watermark without rows; None where only rows do
  * @param windows
  *   what each window closes next; none where nobody knows them
  * @param scopes
  *   of the windows: whose watermark closes each
  */
private[query] final case class Outlook(
    nowMicros: Option[Long],
    nextMove: Option[Long],
    windows: Seq[NextClosing],
    scopes: Seq[String] = Nil
) {

  /** Whether no window goes by the watermark of the query. */
  def isByKey: Boolean = scopes.nonEmpty && !scopes.contains("global")

  /** Whether it is that of groups of keys in each of them. */
  def isByGroup: Boolean = scopes.forall(_ == "group")

  /** The window of the query's watermark that closes first, if one is open. */
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
  *   at which it does; `FrameWindowState.Never` where none is open, or keys have their own
  * @param byClock
  *   when the clock closes it without rows
  */
private[query] final case class NextClosing(
    settings: WindowSettings,
    next: NextTimer,
    watermark: Long,
    byClock: Option[Long]
) {

  /** The window as people know it, where it has bounds that are known. */
  def window: String = NextClosing.windowAt(settings, watermark)

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

  /** The window that closes at a watermark. */
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
