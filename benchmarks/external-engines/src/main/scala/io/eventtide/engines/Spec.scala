package io.eventtide.engines

/** What one JVM is to do: which engine, over which windows and events, how often.
  *
  *   - '''Units:''' `size` and `slide` are seconds; `rate` is events in a second of event time.
  */
final case class Spec(
    engine: String,
    size: Int,
    slide: Int,
    keys: Int,
    rate: Long,
    events: Long,
    warmups: Int,
    runs: Int
) {
  require(rate % 1000 == 0, s"rate is $rate, but must be a multiple of 1000")

  /** From this second of event time on, every window that closes is a full one. */
  def full: Long = size + 2 * Workload.Lag / 1000

  /** Seconds of event time. */
  def seconds: Int = ((events + rate - 1) / rate).toInt

  def perMilli: Long = rate / 1000

  def tumbling: Boolean = size == slide
}

object Spec {

  /** Reads `name=value` for each of the fields. */
  def of(arguments: Seq[String]): Spec = {
    val pairs = arguments.map(_.split("=", 2)).collect { case Array(name, text) => name -> text }
    val value = pairs.toMap.withDefault(name => sys.error(s"$name=... is missing"))
    Spec(
      engine = value("engine"),
      size = value("size").toInt,
      slide = value("slide").toInt,
      keys = value("keys").toInt,
      rate = value("rate").toLong,
      events = value("events").toLong,
      warmups = value("warmups").toInt,
      runs = value("runs").toInt
    )
  }
}
