package io.eventtide.spark.spi

import io.eventtide.spark.options.WindowSettings

/** What is next due: the end of the first window to close, and the first time by the clock, in
  * microseconds; `Never` where there is none.
  *
  * @param keys
  *   how many keys have open windows, or `Unknown`
  * @param lagging
  *   keys with watermarks of their own that are far behind; the ledger does not keep them
  */
private[spark] final case class NextTimer(
    end: Long,
    clockMicros: Long,
    keys: Long,
    lagging: Seq[LaggingKey] = Nil
) {

  /** Whether a watermark closes that window, of these settings. */
  def isClosed(watermark: Option[Long], settings: WindowSettings): Boolean =
    watermark.exists(end <= settings.closedUpTo(_))
}

private[spark] object NextTimer {
  val Never: Long = Long.MaxValue

  /** In place of a number of keys. */
  val Unknown: Long = -1

  val Nothing: NextTimer = NextTimer(Never, Never, 0)

  /** What all partitions owe together. */
  def together(all: Iterable[NextTimer]): NextTimer = all.foldLeft(Nothing) { (one, other) =>
    NextTimer(
      math.min(one.end, other.end),
      math.min(one.clockMicros, other.clockMicros),
      one.keys + other.keys,
      (one.lagging ++ other.lagging).sortBy(_.watermark).take(LaggingKeys.Most)
    )
  }
}

/** Brings to the driver what is next due in each partition. */
final class NextTimerAccum extends PartitionAccum[NextTimer] {
  override protected def empty: NextTimerAccum = new NextTimerAccum
}
