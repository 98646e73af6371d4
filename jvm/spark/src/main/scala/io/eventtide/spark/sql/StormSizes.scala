package io.eventtide.spark.sql

import java.time.Duration

import io.eventtide.kernel.window.WindowShape
import io.eventtide.spark.options.DurationText

/** Reads the sizes of Storm's windows: `length => '20s', slide => 3`, each in time or in rows.
  *
  * As in Python, windows of a length in time that is a multiple of their slide are windows of frames,
  * under the profile of Storm.
  */
private[sql] final class StormSizes(call: FunctionCall) {
  private val values = new ArgumentReader(call.session)
  private val times = new TimeReader(call.session)

  def options: Map[String, String] = (micros("length"), micros("slide")) match {
    case (Some(length), Some(slide)) if length == slide => framed("tumbling", length)
    case (Some(length), Some(slide)) if length % slide == 0 && length / slide <= Most =>
      framed("sliding", length) + ("slide" -> DurationText.iso(slide))
    case _ => Map("kind" -> "storm", extent("length"), extent("slide"))
  }

  private val Most = WindowShape.MostFrames.toLong

  private def framed(kind: String, length: Long): Map[String, String] =
    Map("kind" -> kind, "size" -> DurationText.iso(length), "profile" -> "storm")

  // Without a slide, a window ends with each row.
  private def extent(name: String): (String, String) =
    call.get(name).fold(s"$name.rows" -> "1") { argument =>
      if (values.isNumber(argument)) s"$name.rows" -> values.count(argument)
      else s"$name.time" -> times.duration(argument, isPositive = true)
    }

  private def micros(name: String): Option[Long] =
    call.get(name).filterNot(values.isNumber).map { argument =>
      val duration = Duration.parse(times.duration(argument, isPositive = true))
      Math.addExact(Math.multiplyExact(duration.getSeconds, 1000000L), duration.getNano / 1000L)
    }
}
