package io.eventtide.spark.options

import io.eventtide.kernel.window.Trigger

/** Writes what one run may ask of a window otherwise than another, and takes it up again: by which
  * time keys go, when they are silent, and how often early results are given.
  *
  * A condition is an expression of the run's own, so that one that has another is none of it; nor is
  * how often the clock is looked at.
  */
private[options] object MutableOptionsCodec {

  /** The options of a window, one a line. */
  def write(settings: WindowSettings): String = {
    val early = settings.triggers.map(_.trigger)
    val options = settings.byKey.fold(Seq("scope" -> "global"))(KeyTimeCodec.write) ++
      early.flatMap(_.every).map(every => "early.every" -> PolicyFormatter.duration(every)) ++
      early.flatMap(_.rows).map(rows => "early.rows" -> rows.toString)
    options.map { case (option, value) => s"$option=$value" }.mkString("\n")
  }

  /** A window as it was asked for, but for what was written. */
  def read(written: String, asked: WindowSettings): WindowSettings = {
    val options = new OptionReader(values(written))
    val policy = options.get("policy").map(_ => WatermarkOptionsCodec.policy(options, ""))
    val byKey = KeyTimeCodec.read(options, policy, asked.remembers).map { own =>
      own.copy(heartbeatMicros = asked.byKey.getOrElse(own).heartbeatMicros)
    }
    val (every, rows) = (options.duration("early.every", 1), options.count("early.rows", 1))
    asked.copy(
      byKey = byKey,
      panes = asked.panes.map(by(_, every, rows, asked.isRowAtATime)),
      emitted = asked.emitted.map(one => one.copy(trigger = by(one.trigger, every, rows)))
    )
  }

  /** Whose watermark closes the window: that of the query ("global"), of a key or of a group of keys. */
  def scope(written: String): String = values(written).getOrElse("scope", "global")

  // Where rows come one by one there is state for early results, or there is none: if they were by a
  // condition only, those of now are given, since nobody knows the condition.
  private def by(
      panes: PaneSettings,
      every: Option[Long],
      rows: Option[Int],
      hasState: Boolean
  ): PaneSettings = {
    val begun = panes.copy(earlyEveryMicros = every, earlyRows = rows)
    if (hasState && begun.givesEarly != panes.givesEarly) panes else begun
  }

  // Which triggers there are is part of the structure, so that each has its number.
  private def by(trigger: Trigger, every: Option[Long], rows: Option[Int]): Trigger =
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
