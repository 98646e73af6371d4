package io.eventtide.spark.options

import java.time.temporal.ChronoUnit
import java.time.{Duration, Instant, LocalDate, LocalDateTime, Period, ZoneId, ZoneOffset}
import java.util.Locale

import scala.util.Try

import io.eventtide.kernel.InvalidArgument
import io.eventtide.kernel.time.{CalendarGrid, Frame, FrameGrid}
import io.eventtide.kernel.window.{Cumulative, Sliding, WindowShape}
import io.eventtide.spark.EventtideException

/** The frames that windows consist of, and how windows combine them. */
private[options] final case class WindowFrames(grid: FrameGrid, shape: WindowShape)

/** Reads and writes the size and start of windows: fixed, or days or months in a time zone. */
private[options] object WindowFrames {

  // Spark's watermark is in whole milliseconds, so it cannot separate shorter frames.
  private val ShortestFrame = 1000L
  private val MicrosOfDay = 86400000000L
  private val ShortestMonth = 28

  /** @param isLocal
    *   whether event times are local times, without a time zone
    */
  def read(kind: String, options: OptionReader, isLocal: Boolean): WindowFrames =
    options.get("time_zone").fold(fixed(kind, options)) { name =>
      calendar(kind, options, zone(name), isLocal)
    }

  private def fixed(kind: String, options: OptionReader): WindowFrames = {
    val size = required(options.duration("size", ShortestFrame), "size")
    val step =
      piece(kind).fold(size)(name => required(options.duration(name, ShortestFrame), name))
    val frames = frameCount(size, step, PolicyFormatter.duration)
    val period = if (kind == "cumulate") size else step
    val start = Math.floorMod(
      origin(options).fold(0L)(ChronoUnit.MICROS.between(Instant.EPOCH, _)) +
        offset(options, period),
      period
    )
    val phase = Math.floorDiv(start, step).toInt
    WindowFrames(Frame(step, Math.floorMod(start, step)), shape(kind, frames, phase))
  }

  /** The options that define these frames, as a user would write them. */
  def write(kind: String, frames: WindowFrames): Seq[(String, String)] = {
    val count = frames.shape.frames.toLong
    frames.grid match {
      case Frame(step, offset) =>
        val start = frames.shape match {
          case Cumulative(_, phase) => phase * step + offset
          case _: Sliding => offset
        }
        sizes(kind, Durations.inWords(count * step), Durations.inWords(step)) ++
          Structure.length("offset", start)
      case CalendarGrid(step, unit, zone, origin) =>
        sizes(kind, inUnits(count * step, unit), inUnits(step.toLong, unit)) ++
          Seq("time_zone" -> zone.getId, "origin" -> origin.toLocalDate.toString) ++
          Structure.length("offset", origin.toLocalTime.toNanoOfDay / 1000)
      case other => throw new IllegalStateException(s"no options: $other")
    }
  }

  /** The frames of a window of a checkpoint, which `write` has described; None for other windows, and for
    * windows of days or months.
    */
  def stored(kind: String, window: Structure): Option[WindowFrames] =
    Option.when(window.get("size").isDefined && window.get("time_zone").isEmpty) {
      val names = "size" +: (piece(kind).toSeq :+ "offset")
      val options = for (name <- names; words <- window.get(name)) yield {
        name -> PolicyFormatter.duration(Durations.micros(words))
      }
      fixed(kind, new OptionReader(options.toMap))
    }

  private def sizes(kind: String, size: String, step: String): Seq[(String, String)] =
    ("size" -> size) +: piece(kind).map(_ -> step).toSeq

  private def inUnits(count: Long, unit: ChronoUnit): String = {
    val name = unit.toString.toLowerCase(Locale.ROOT).stripSuffix("s")
    if (count == 1) s"1 $name" else s"$count ${name}s"
  }

  // A column without a time zone already holds local times, so all of its days have 24 hours.
  private def calendar(
      kind: String,
      options: OptionReader,
      zone: ZoneId,
      isLocal: Boolean
  ): WindowFrames = {
    val size = required(period(options, "size"), "size")
    val step = piece(kind).fold(size)(name => required(period(options, name), name))
    val inDays = step.getDays > 0
    if (inDays != (size.getDays > 0))
      throw new InvalidArgument("size and slide or step", s"$size and $step", "in the same unit")
    val frames =
      if (inDays) frameCount(size.getDays.toLong, step.getDays.toLong, n => s"P${n}D")
      else frameCount(size.toTotalMonths, step.toTotalMonths, n => s"P${n}M")
    val days = if (inDays) step.getDays.toLong else step.toTotalMonths * ShortestMonth
    val start = origin(options)
      .fold(LocalDate.EPOCH.atStartOfDay)(LocalDateTime.ofInstant(_, zone))
      .plus(Duration.of(offset(options, days * MicrosOfDay), ChronoUnit.MICROS))
    val clock = if (isLocal) ZoneOffset.UTC else zone
    WindowFrames(CalendarGrid(step, clock, start), shape(kind, frames, phase = 0))
  }

  /** The option that sets the length of a frame; None if a window is one frame. */
  private def piece(kind: String): Option[String] = kind match {
    case "tumbling" => None
    case "sliding" => Some("slide")
    case _ => Some("step")
  }

  private def shape(kind: String, frames: Int, phase: Int): WindowShape =
    if (kind == "cumulate") Cumulative(frames, phase) else Sliding(frames)

  private def required[A](value: Option[A], option: String): A = value.getOrElse {
    OptionReader.missing(option, "the length of a window or of its slide")
  }

  private def frameCount(size: Long, step: Long, text: Long => String): Int = {
    if (size % step != 0) throw notMultiple(size, step, text)
    val frames = size / step
    if (frames > WindowShape.MostFrames)
      throw new InvalidArgument("frames of a window", frames, s"at most ${WindowShape.MostFrames}")
    frames.toInt
  }

  private def notMultiple(size: Long, step: Long, text: Long => String): EventtideException = {
    val below = size / step * step
    EventtideException(
      "WINDOW_NOT_MULTIPLE",
      "size" -> text(size),
      "step" -> text(step),
      "nearest" -> Seq(below, below + step).filter(_ > 0).map(text).mkString(" or ")
    )
  }

  /** The offset of windows, below `period`, after which they repeat. */
  private def offset(options: OptionReader, period: Long): Long = {
    val offset = options.duration("offset", 0).getOrElse(0L)
    if (offset >= period) {
      throw new InvalidArgument(
        "offset",
        PolicyFormatter.duration(offset),
        s"below ${PolicyFormatter.duration(period)}, after which windows repeat"
      )
    }
    offset
  }

  private def origin(options: OptionReader): Option[Instant] = options.get("origin").map { text =>
    Try(Instant.parse(text)).getOrElse(
      OptionReader.unknown(
        "origin",
        text,
        "instants in ISO 8601, such as '1970-01-01T00:00:00Z'"
      )
    )
  }

  private def zone(name: String): ZoneId = Try(ZoneId.of(name)).getOrElse(
    OptionReader.unknown("time_zone", name, "names of time zones, such as 'Europe/Berlin'")
  )

  private def period(options: OptionReader, option: String): Option[Period] =
    options.get(option).map { text =>
      Try(Period.parse(text)).toOption
        .filter(isCalendar)
        .getOrElse(
          OptionReader.unknown(
            option,
            text,
            "periods of whole days or of whole months with a time_zone, such as 'P1D'"
          )
        )
    }

  private def isCalendar(period: Period): Boolean = {
    val (days, months) = (period.getDays, period.toTotalMonths)
    (days > 0 && months == 0) || (days == 0 && months > 0 && months.isValidInt)
  }
}
