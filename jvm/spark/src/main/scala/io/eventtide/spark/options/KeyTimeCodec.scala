package io.eventtide.spark.options

import io.eventtide.kernel.InvalidArgument
import io.eventtide.kernel.watermark.PolicySpec
import io.eventtide.kernel.window.Silence

/** Reads which time keys have, and when they are silent. */
private[options] object KeyTimeCodec {
  private val Day = 86400000000L
  private val Minute = 60000000L
  private val Scopes = Seq("key", "global", "group").map(scope => scope -> scope)
  private val Clocks = Seq("event_time" -> true, "processing_time" -> false)

  /** @param policy
    *   of the watermark; each key, or each group of keys, has one of its own if the scope says so
    */
  def read(options: Options, policy: Option[PolicySpec]): Option[KeyTimeSettings] = {
    val scope = options.choice("scope", Scopes).getOrElse("global")
    val isOwn = scope != "global"
    val timeout = options.duration("key_idle_timeout", 1)
    val byEvents = options.choice("key_idle_clock", Clocks).getOrElse(false)
    val keep = options.duration("key_ttl", 0).getOrElse(Day)
    val heartbeat = options.duration("heartbeat", 100000).getOrElse(Minute)
    val rows = options.count("max_rows_per_batch", 1)
    rows.filter(_ => scope != "key").foreach { most =>
      throw new InvalidArgument("max_rows_per_batch", most, "given with scope=key only")
    }
    Option.when(isOwn || timeout.isDefined) {
      val silence = Silence(timeout, keep, byEvents)
      val own = policy.filter(_ => isOwn)
      KeyTimeSettings(own, scope == "group", silence, heartbeat, rows.getOrElse(Int.MaxValue))
    }
  }
}
