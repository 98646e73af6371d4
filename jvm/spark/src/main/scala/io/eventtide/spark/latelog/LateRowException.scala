package io.eventtide.spark.latelog

import java.time.Instant
import java.time.temporal.ChronoUnit

import io.eventtide.spark.EventtideException

/** The error of a query that does not allow late rows. */
private[latelog] object LateRowException {

  def apply(
      eventTimeMicros: Option[Long],
      watermarkMicros: Option[Long],
      reason: LateReason
  ): EventtideException = EventtideException(
    "LATE_ROW",
    "time" -> at(eventTimeMicros),
    "watermark" -> at(watermarkMicros),
    "reason" -> reason
  )

  private def at(micros: Option[Long]): String =
    micros.fold("none")(Instant.EPOCH.plus(_, ChronoUnit.MICROS).toString)
}
