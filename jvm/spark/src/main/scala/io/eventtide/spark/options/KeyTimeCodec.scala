package io.eventtide.spark.options

import io.eventtide.kernel.watermark.PolicySpec
import io.eventtide.kernel.window.Silence

/** Reads which time keys have, and when they are silent. */
private[options] object KeyTimeCodec {
  private val Day = 86400000000L
  private val Minute = 60000000L
  private val Scopes = Seq("key" -> true, "global" -> false, "group" -> false)
  private val Clocks = Seq("event_time" -> true, "processing_time" -> false)

  /** @param policy
    *   of the watermark; each key has one of its own if the scope says so
    */
  def read(options: Options, policy: Option[PolicySpec]): Option[KeyTimeSettings] = {
    val isOwn = options.choice("scope", Scopes).getOrElse(false)
    val timeout = options.duration("key_idle_timeout", 1)
    val byEvents = options.choice("key_idle_clock", Clocks).getOrElse(false)
    val keep = options.duration("key_ttl", 0).getOrElse(Day)
    val heartbeat = options.duration("heartbeat", 100000).getOrElse(Minute)
    Option.when(isOwn || timeout.isDefined) {
      KeyTimeSettings(policy.filter(_ => isOwn), Silence(timeout, keep, byEvents), heartbeat)
    }
  }
}
