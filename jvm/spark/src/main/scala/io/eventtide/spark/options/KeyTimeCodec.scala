package io.eventtide.spark.options

import io.eventtide.kernel.InvalidArgument
import io.eventtide.kernel.watermark.{PolicySpec, WithLateTarget}
import io.eventtide.kernel.window.KeyIdleness

/** Reads the options for the time of keys and for idle keys, and writes the options that later runs
  * need.
  */
private[options] object KeyTimeCodec {
  private val Day = 86400000000L
  private val Minute = 60000000L
  private val Scopes = Seq("key", "global", "group").map(scope => scope -> scope)
  private val Clocks = Seq("event_time" -> true, "processing_time" -> false)

  /** The options that affect rows and windows. The heartbeat, the interval at which the clock is
    * polled, does not.
    */
  def write(settings: KeyedTimeSettings): Seq[(String, String)] = {
    val idleness = settings.idleness
    val scope =
      if (settings.policy.isEmpty) "global" else if (settings.isPerGroup) "group" else "key"
    val rows = Option.when(settings.maxRowsPerStep < Int.MaxValue)(settings.maxRowsPerStep.toString)
    val options = Seq(
      "scope" -> Some(scope),
      "key_idle_timeout" -> idleness.timeout.map(PolicyFormatter.duration),
      "key_idle_clock" -> Clocks.find(_._2 == idleness.inEventTime).map(_._1),
      "key_ttl" -> Some(PolicyFormatter.duration(idleness.ttl)),
      "max_rows_per_batch" -> rows
    ).collect { case (option, Some(value)) => option -> value }
    options ++ settings.policy.toSeq.flatMap(WatermarkOptionsCodec.write(_, ""))
  }

  /** @param policy
    *   the policy of the watermark; the scope decides whether each key, or each group of keys, has
    *   its own instance
    * @param remembers
    *   whether a key has state to keep even if it holds no rows, regardless of the scope
    */
  def read(
      options: OptionReader,
      policy: Option[PolicySpec],
      remembers: Boolean
  ): Option[KeyedTimeSettings] = {
    val scope = options.choice("scope", Scopes).getOrElse("global")
    val isOwn = scope != "global"
    val timeout = options.duration("key_idle_timeout", 1)
    val inEventTime = options.choice("key_idle_clock", Clocks).getOrElse(false)
    val keep = options.duration("key_ttl", 0).getOrElse(Day)
    val heartbeat = options.duration("heartbeat", 100000).getOrElse(Minute)
    val rows = options.count("max_rows_per_batch", 1)
    rows.filter(_ => scope != "key").foreach { most =>
      throw new InvalidArgument("max_rows_per_batch", most, "set only with the scope 'key'")
    }
    Option.when(isOwn || timeout.isDefined || remembers) {
      val idleness = KeyIdleness(timeout, keep, inEventTime)
      val own = policy.filter(_ => isOwn)
      own.filter(_.needsDeclaredSubstreams).foreach { spec =>
        throw new InvalidArgument(
          s"policy with the scope '$scope'",
          spec.name,
          "one without declared substreams, because keys are not declared"
        )
      }
      // Tasks get the lag of a late target from the driver.
      own.map(_.onlyOnDriver.filter(_ != WithLateTarget.name)).filter(_.nonEmpty).foreach { names =>
        throw new InvalidArgument(
          s"policy with the scope '$scope'",
          names.mkString(", "),
          "one that runs in tasks, not on the driver only"
        )
      }
      own.filter(_.isBySubstream).foreach { spec =>
        throw new InvalidArgument(s"policy with the scope '$scope'", spec.name, "one for all keys")
      }
      KeyedTimeSettings(own, scope == "group", idleness, heartbeat, rows.getOrElse(Int.MaxValue))
    }
  }
}
