package io.eventtide.spark.query.monitor

import io.eventtide.spark.options.Durations

/** Describes the keys furthest behind and the next closing, for windows with a watermark per key.
  */
private[query] object KeyWatermarkDiagnosis {

  def of(outlook: Outlook): String = {
    val owner = if (outlook.isByGroup) "group of keys" else "key"
    s"Each $owner has its own watermark; the watermark of the query closes no window." +
      behind(outlook) + byClock(outlook)
  }

  /** The keys furthest behind; empty if there are no watermarks per key. */
  def behind(outlook: Outlook): String = {
    val keys = outlook.windows.flatMap(one => one.lagging.map(one.settings -> _))
    val lowest = keys.sortBy(_._2.watermark)
    val names = lowest.map { case (_, key) =>
      s"${WatermarkDiagnosis.quoted(key.name)} at ${WatermarkDiagnosis.utc(key.watermark)}"
    }
    lowest.minByOption(_._2.due).fold("") { case (settings, key) =>
      s" Furthest behind: ${names.mkString(", ")}. Next to close is " +
        s"${NextClosing.windowAt(settings, key.due)} of ${WatermarkDiagnosis.quoted(key.name)}, when its " +
        s"watermark reaches ${WatermarkDiagnosis.utc(key.due)}."
    }
  }

  private def byClock(outlook: Outlook): String = {
    val due = outlook.windows.map(_.next.clockMicros).filter(_ < Long.MaxValue).minOption
    val in = for (at <- due; now <- outlook.nowMicros) yield math.max(0L, at - now)
    in.fold("")(wait => s" The next processing-time timer fires in ${Durations.inWords(wait)}.")
  }
}
