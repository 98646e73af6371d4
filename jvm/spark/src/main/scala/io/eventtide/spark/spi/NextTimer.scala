package io.eventtide.spark.spi

import io.eventtide.spark.options.WindowSettings

/** The next timers: the end of the first window to close, and the first processing time timer, both
  * in microseconds. `Never` if there is none.
  *
  * @param keys
  *   the number of keys with open windows, or `Unknown`
  * @param lagging
  *   the keys whose watermarks are furthest behind; not stored in the ledger
  */
private[spark] final case class NextTimer(
    end: Long,
    clockMicros: Long,
    keys: Long,
    lagging: Seq[LaggingKey] = Nil
) {

  /** Whether `watermark` closes the first window, under `settings`. */
  def isClosed(watermark: Option[Long], settings: WindowSettings): Boolean =
    watermark.exists(end <= settings.closedUpTo(_))
}

private[spark] object NextTimer {
  val Never: Long = Long.MaxValue

  /** The value of `keys` if their number is not known. */
  val Unknown: Long = -1

  val Nothing: NextTimer = NextTimer(Never, Never, 0)

  /** The earliest timers of all partitions. */
  def together(all: Iterable[NextTimer]): NextTimer = all.foldLeft(Nothing) { (one, other) =>
    NextTimer(
      math.min(one.end, other.end),
      math.min(one.clockMicros, other.clockMicros),
      one.keys + other.keys,
      (one.lagging ++ other.lagging).sortBy(_.watermark).take(LaggingKeys.Most)
    )
  }
}
