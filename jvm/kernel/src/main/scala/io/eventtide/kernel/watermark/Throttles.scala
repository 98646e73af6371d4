package io.eventtide.kernel.watermark

/** The registry of throttles. A new throttle needs one file and one line here. */
object Throttles {
  val all: Seq[ThrottleKind] = Seq(ThrottleByFrame, ThrottleByMinStep, EmitEvery)
}
