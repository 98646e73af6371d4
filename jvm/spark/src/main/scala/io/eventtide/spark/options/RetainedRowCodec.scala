package io.eventtide.spark.options

import io.eventtide.kernel.InvalidArgument
import io.eventtide.kernel.rowwindow.{RetainedRowSpec, WindowLength}

/** Reads Storm windows: a length and a slide, each in time or in rows. */
private[options] object RetainedRowCodec {

  /** The options that define the length and the slide. */
  val Sizes: Seq[String] =
    for { what <- Seq("length", "slide"); unit <- Seq("time", "rows") } yield s"$what.$unit"

  private val MostAtHand = 1000000 // as `maxEventsInMemory` in Storm

  // Time windows end at Spark's watermark, which is in whole milliseconds.
  private val ShortestSlide = 1000L

  /** @param usesIngestionTime
    *   whether the event time of rows is their ingestion time
    */
  def read(options: OptionReader, usesIngestionTime: Boolean): WindowKind.RetainingRows = {
    val spec =
      RetainedRowSpec(extent(options, "length", 1), extent(options, "slide", ShortestSlide))
    val emitsRows = options.choice("result", Seq("rows" -> true, "aggregates" -> false))
    val atHand = options.count("rows_in_memory", 1)
    WindowKind.RetainingRows(
      spec,
      emitsRows.getOrElse(false),
      usesIngestionTime,
      atHand.getOrElse(MostAtHand)
    )
  }

  private def extent(options: OptionReader, what: String, shortest: Long): WindowLength = {
    val time = options.duration(s"$what.time", shortest).map(WindowLength.Time)
    val rows = options.count(s"$what.rows", 1).map(WindowLength.Rows)
    (time, rows) match {
      case (Some(one), None) => one
      case (None, Some(one)) => one
      case (None, None) =>
        OptionReader.missing(
          s"$what.time",
          s"the length or the slide of a window, or set $what.rows"
        )
      case (Some(_), Some(other)) =>
        throw new InvalidArgument(s"$what.rows", other.count, s"left out with $what.time")
    }
  }

  /** Rejects settings that Storm windows do not support. */
  def refuseOthers(settings: WindowSettings): Unit = {
    def refuse(what: String, value: Any): Nothing =
      throw new InvalidArgument(s"$what of Storm's windows", value, "left out: they have none")
    settings.emit.foreach(emit => refuse("trigger", emit.triggers.head.name))
    if (settings.hasOwnTime) refuse("scope", "key")
    settings.byKey.flatMap(_.idleness.timeout).foreach { timeout =>
      refuse("idle timeout", PolicyFormatter.duration(timeout))
    }
    settings.byKey.filter(_.idleness.inEventTime).foreach(_ => refuse("idle clock", "event_time"))
  }
}
