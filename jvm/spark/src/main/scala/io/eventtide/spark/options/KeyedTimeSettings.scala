package io.eventtide.spark.options

import io.eventtide.kernel.watermark.PolicySpec
import io.eventtide.kernel.window.KeyIdleness

/** The time of keys, if it is not simply the query's watermark.
  *
  * @param policy
  *   the watermark policy of each key, or of each group of keys; None for the query's watermark
  * @param isPerGroup
  *   whether the keys of a group share one watermark
  * @param heartbeatMicros
  *   the minimum interval between polls of the clock for idle keys
  * @param maxRowsPerStep
  *   the maximum number of rows of a key in one step; further rows count as rows of another batch
  */
final case class KeyedTimeSettings(
    policy: Option[PolicySpec],
    isPerGroup: Boolean,
    idleness: KeyIdleness,
    heartbeatMicros: Long,
    maxRowsPerStep: Int
) {

  /** Whether the keys share a lag that the query learns from the rows of all keys. */
  def learnsLag: Boolean = policy.exists(_.lateTarget.isDefined)

  /** Whether processing-time timers may exist. */
  def hasProcessingTimers: Boolean = !idleness.inEventTime || policy.exists(_.movesWithClock)

  /** The interval between polls of the clock: at most one second if a watermark follows it. */
  def pollIntervalMicros: Long =
    if (policy.exists(_.movesWithClock)) math.min(heartbeatMicros, 1000000L) else heartbeatMicros

  /** The options that move watermarks and make keys idle, as text. */
  def timingOptions: String = KeyTimeCodec.write(this).mkString(" ")

  /** The settings that saved state depends on. The idle clock is one of them, because the time of a
    * key's last row is saved in one clock only.
    */
  def structure: Seq[(String, String)] = policy.toSeq.flatMap { own =>
    Seq("watermark_scope" -> (if (isPerGroup) "group" else "key"), "policy" -> own.structure)
  } ++ Option.when(idleness.inEventTime)("clock of key_idle_timeout" -> "event_time")
}
