package io.eventtide.spark.options

import io.eventtide.kernel.watermark.{FutureGuard, PolicySpec, Substreams, ThrottleSpec}

/** The user's settings of one watermark, validated. Durations are in microseconds.
  *
  * @param policy
  *   the policy; each substream has an instance of it
  * @param throttles
  *   applied in this order to the combined watermark
  * @param expected
  *   the names of substreams that delay the watermark until they have a row or are idle
  * @param expectedCount
  *   the number of substreams if their names are not known; one or more
  * @param substreams
  *   the description of the substream key
  * @param keepsRefused
  *   whether rows that do not count for the watermark stay in the stream
  * @param ttl
  *   when an idle substream is removed; None if the user has not set it
  * @param maxClockStepMicros
  *   the maximum forward step of the machine's clock; None for the session's setting
  * @param name
  *   the user's name for the input, for reports
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
    substreams: SubstreamDescription,
    keepsRefused: Boolean = false,
    ttl: Option[SubstreamTtl] = None,
    maxClockStepMicros: Option[Long] = None,
    name: Option[String] = None
) {

  /** The input in a report: its name, or its position in the plan. */
  def label(position: Int): String = name.getOrElse(s"input $position")

  /** Whether the stream is divided into substreams. */
  def hasSubstreams: Boolean = substreams != SubstreamDescription.Global

  def movesWithClock: Boolean =
    policy.movesWithClock || idleTimeoutMicros.isDefined || throttles.exists(_.timed)

  def isThrottled: Boolean = throttles.nonEmpty

  /** The settings that saved state depends on. A checkpoint with another structure is rejected. */
  def structure: Structure = Structure(
    "policy" -> policy.structure,
    Seq("substream" -> substreams.text)
  )

  /** @param aheadMicros
    *   the lead of the substreams' clock over the machine's clock
    */
  def newSubstreams(aheadMicros: Long = 0): Substreams = new Substreams(
    policy.forClockAhead(aheadMicros),
    throttles.map(_.forClockAhead(aheadMicros)),
    idleTimeoutMicros,
    WatermarkSettings.Grain,
    ttlMicros
  )

  /** The settings of this run for a replayed batch that a run with `other` settings began. Settings
    * that affect results stay those of `other`.
    *
    * A guard of `other` that fails the query has accepted the rows below its limit. Rows above the
    * limit have not reached any result, so the guard of this run applies to them.
    */
  def inBatchBegunBy(other: WatermarkSettings): WatermarkSettings = {
    val guards = other.guard match {
      case Some(FutureGuard(limit, FutureGuard.Fail)) =>
        guard.map(own => own.copy(maxAhead = math.max(own.maxAhead, limit)))
      case others => others
    }
    other.copy(guard = guards, name = name)
  }

  /** The time after which an idle substream is removed; None for never. */
  def ttlMicros: Option[Long] = ttl match {
    case Some(SubstreamTtl.After(micros)) => Some(micros)
    case Some(SubstreamTtl.Never) => None
    case None if !hasSubstreams || areKafkaPartitions => None
    case None => idleTimeoutMicros.map(math.max(_, SubstreamTtl.DefaultMicros))
  }

  /** Whether the substreams are Kafka partitions. The source reports the existing partitions. */
  def areKafkaPartitions: Boolean = substreams == SubstreamDescription.Kafka

  /** Whether the number of substreams may grow without bound, although the user set no TTL. */
  def growsUnbounded: Boolean =
    hasSubstreams && !areKafkaPartitions && ttl.isEmpty && ttlMicros.isEmpty

}

object WatermarkSettings {

  /** Spark's watermark is in whole milliseconds. */
  private val Grain = 1000L
}

/** Describes the substream key of a stream.
  *
  * @param text
  *   the key, for users and for the checkpoint's plan; independent of the user's spelling
  * @param origin
  *   the reason for the choice, for users
  */
final case class SubstreamDescription(text: String, origin: String)

object SubstreamDescription {

  /** A stream without substreams. */
  val Global: SubstreamDescription =
    SubstreamDescription("the whole source", "none was named, and the source has none")

  /** The default for Kafka. */
  val Kafka: SubstreamDescription = SubstreamDescription("topic, partition", "Kafka's own")

  /** A key that the user chose. */
  def named(text: String): SubstreamDescription = SubstreamDescription(text, "named")
}
