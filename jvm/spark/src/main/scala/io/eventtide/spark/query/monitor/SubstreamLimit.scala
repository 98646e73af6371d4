package io.eventtide.spark.query.monitor

import io.eventtide.spark.options.Durations

/** The number of an input's substreams, and its limit.
  *
  * @param most
  *   the limit, `max_substreams`
  * @param reachedInMicros
  *   the time until the limit is reached at the current rate; None if the number does not grow
  */
private[query] final case class SubstreamLimit(
    count: Int,
    most: Int,
    reachedInMicros: Option[Long]
) {
  def isNear: Boolean = count >= most * SubstreamLimit.Near

  /** The warning to log when the limit is near. */
  def warning: Option[String] = Option.when(isNear) {
    val when = reachedInMicros.fold("Their number does not grow at present.") { micros =>
      s"At the present rate they reach the limit in ${Durations.inWords(micros)}, which stops the query."
    }
    s"There are $count substreams, of at most $most. $when Remove idle ones with " +
      "substream_idle_timeout and substream_ttl, choose a substream with fewer values, or raise " +
      "max_substreams."
  }
}

private[query] object SubstreamLimit {
  private val Near = 0.8
}
