package io.eventtide.spark.options

import io.eventtide.kernel.window.Trigger

/** Writes and reads the options of a window that may differ between runs: the time of keys, the
  * idle timeout of keys, and the values of triggers.
  *
  * A condition is not written, because it is an expression of the run. The heartbeat, the interval
  * at which the clock is polled, is not written either.
  */
private[spark] object MutableOptionsCodec {

  /** The options of a window, one per line. */
  def write(settings: WindowSettings): String = {
    val early = settings.triggers.map(_.trigger)
    val options = settings.byKey.fold(Seq("scope" -> "global"))(KeyTimeCodec.write) ++
      early.flatMap(_.every).map(every => "every" -> PolicyFormatter.duration(every)) ++
      early.flatMap(_.rows).map(rows => "every_rows" -> rows.toString)
    options.map { case (option, value) => s"$option=$value" }.mkString("\n")
  }

  /** The requested window, with its mutable options replaced by the written options. */
  def read(text: String, current: WindowSettings): WindowSettings = {
    val options = new OptionReader(values(text))
    val policy = options.get("policy").map(_ => WatermarkOptionsCodec.policy(options, ""))
    val byKey = KeyTimeCodec.read(options, policy, current.remembers).map { own =>
      own.copy(heartbeatMicros = current.byKey.getOrElse(own).heartbeatMicros)
    }
    val (every, rows) = (options.duration("every", 1), options.count("every_rows", 1))
    def written(one: NamedTrigger) = one.copy(trigger = withValues(one.trigger, every, rows))
    current.copy(
      byKey = byKey,
      emit = current.emit.map(emit => emit.copy(triggers = emit.triggers.map(written)))
    )
  }

  /** The scope of the watermark that closes the window: "global" (the query), "key" or "group". */
  def scope(written: String): String = values(written).getOrElse("scope", "global")

  // The set of triggers is part of the structure, so each of them has its written number.
  private def withValues(trigger: Trigger, every: Option[Long], rows: Option[Int]): Trigger =
    trigger.copy(
      every = trigger.every.map(every.getOrElse(_)),
      rows = trigger.rows.map(rows.getOrElse(_))
    )

  private def values(written: String): Map[String, String] =
    written.linesIterator.map { line =>
      val (option, value) = line.splitAt(line.indexOf('='))
      option -> value.drop(1)
    }.toMap
}
