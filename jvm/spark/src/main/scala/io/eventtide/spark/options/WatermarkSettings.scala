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
  * @param substreams
  *   what the rows are told apart by
  * @param keepsRefused
  *   whether rows that do not count for the watermark stay in the stream
  * @param ttl
  *   when a substream that is idle is forgotten; None where that was not said
  * @param maxClockStepMicros
  *   how far the clock may go forward by itself; None for what the session says
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
    maxClockStepMicros: Option[Long] = None
) {

  /** Whether the rows are told apart at all. */
  def hasSubstreams: Boolean = substreams != SubstreamDescription.Whole

  def movesWithClock: Boolean =
    policy.movesWithClock || idleTimeoutMicros.isDefined || throttles.exists(_.timed)

  def isThrottled: Boolean = throttles.nonEmpty

  /** What saved state depends on: a checkpoint of another structure is refused. */
  def structure: Structure = Structure(
    "policy" -> policy.structure,
    Seq("substream" -> substreams.text)
  )

  /** @param aheadMicros
    *   how far the clock that they are told is ahead of the machine's
    */
  def newSubstreams(aheadMicros: Long = 0): Substreams = new Substreams(
    policy.forClockAhead(aheadMicros),
    throttles.map(_.forClockAhead(aheadMicros)),
    idleTimeoutMicros,
    WatermarkSettings.Grain,
    ttlMicros
  )

  /** These in a batch that a run with others has begun, of which this one keeps what shows in results.
    *
    * A guard that fails the query has let through what is below its limit. What is beyond that has come
    * to no result yet, and is this run's own to judge.
    */
  def inBatchBegunBy(other: WatermarkSettings): WatermarkSettings = {
    val guards = other.guard match {
      case Some(FutureGuard(limit, FutureGuard.Fail)) =>
        guard.map(own => own.copy(maxAhead = math.max(own.maxAhead, limit)))
      case others => others
    }
    other.copy(guard = guards)
  }

  /** When a substream that is idle is forgotten; None for never. */
  def ttlMicros: Option[Long] = ttl match {
    case Some(SubstreamTtl.After(micros)) => Some(micros)
    case Some(SubstreamTtl.Never) => None
    case None if !hasSubstreams || areOfKafka => None
    case None => idleTimeoutMicros.map(math.max(_, SubstreamTtl.DefaultMicros))
  }

  /** Whether they are the partitions of a source that says which it has. */
  def areOfKafka: Boolean = substreams == SubstreamDescription.Kafka

  /** Whether substreams may come without end though nobody has said so. */
  def growsUnasked: Boolean = hasSubstreams && !areOfKafka && ttl.isEmpty && ttlMicros.isEmpty

}

object WatermarkSettings {

  /** Spark's watermark is in whole milliseconds. */
  private val Grain = 1000L
}

/** What the rows of a stream are told apart by.
  *
  * @param text
  *   for people, and for the checkpoint's plan: the same however a user spells it
  * @param why
  *   for people: who chose it
  */
final case class SubstreamDescription(text: String, why: String)

object SubstreamDescription {

  /** A stream that has no substreams. */
  val Whole: SubstreamDescription =
    SubstreamDescription("the whole source", "none was named, and the source has none of its own")

  /** The default for Kafka. */
  val Kafka: SubstreamDescription = SubstreamDescription("topic, partition", "Kafka's own")

  /** One that the user chose. */
  def named(text: String): SubstreamDescription = SubstreamDescription(text, "named")
}
