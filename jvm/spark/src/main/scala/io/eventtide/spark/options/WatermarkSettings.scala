package io.eventtide.spark.options

import io.eventtide.kernel.watermark.{FutureGuard, PolicySpec, Substreams, ThrottleSpec}

/** One watermark as a user asked for it, validated. Durations are in microseconds.
  *
  * @param policy
  *   what each substream has an instance of
  * @param throttles
  *   applied in this order to the combined watermark
  * @param expected
  *   substreams that hold the watermark back until they are seen, or until they are idle
  * @param expectedCount
  *   how many substreams there are, when their names are not known; one or more
  * @param substreamLabel
  *   what the rows are told apart by, for people
  */
final case class WatermarkSettings(
    policy: PolicySpec,
    throttles: Seq[ThrottleSpec],
    guard: Option[FutureGuard],
    idleTimeoutMicros: Option[Long],
    expected: Seq[String],
    expectedCount: Option[Int],
    maxSubstreams: Int,
    holdsOnRestart: Boolean,
    substreamLabel: String
) {

  /** Whether the rows are told apart at all. */
  def hasSubstreams: Boolean = substreamLabel != WatermarkSettings.Whole

  def movesWithClock: Boolean =
    policy.movesWithClock || idleTimeoutMicros.isDefined || throttles.exists(_.timed)

  def isThrottled: Boolean = throttles.nonEmpty

  /** What saved state depends on: a checkpoint of another structure is refused. */
  def structure: String =
    (policy.structure +: throttles.map(_.name) :+ s"by $substreamLabel").mkString(", ")

  def newSubstreams(): Substreams = new Substreams(policy, throttles, idleTimeoutMicros)
}

object WatermarkSettings {

  /** The label of a stream that has no substreams. */
  val Whole = "the whole source"
}
