package io.eventtide.kernel.window

/** The rules at the edges of windows, as one system has them; each can be set alone, by `copy`.
  *
  *   - '''Guarantee:''' a row is late, or in those of its windows that are open, under any of them.
  *   - '''Restart:''' immutable; nothing to save.
  *   - '''Source:''' the systems that the profiles are named after.
  *
  * @param name what the rules are called together
  * @param bounds which end of a window belongs to it
  * @param lateRule when a row is late
  * @param inclusive whether a watermark also says that no rows of its own time are expected
  * @param delays whether a window may wait for a delay before it gives its one result
  * @param refires whether a window that has given its result may take rows and give another
  * @param everyStep whether a step of the watermark that closes nothing counts for the next rows
  * @param session what is different for sessions
  */
final case class Profile(
    name: String,
    bounds: IntervalBounds = IntervalBounds.StartIncluded,
    lateRule: LateRule = LateRule.WindowClosed,
    inclusive: Boolean = false,
    delays: Boolean = false,
    refires: Boolean = false,
    onEveryAdvance: Boolean = false,
    session: SessionRules = SessionRules()
) {

  /** What is closed at a watermark under these rules. */
  def closing(delay: Long): ClosingRule = ClosingRule(lateRule, if (inclusive) delay - 1 else delay)
}

/** The rules at the edges of sessions.
  *
  * @param touchingMerges whether rows exactly one gap apart are together
  * @param lateRule when a row is late; its frame is the session that it would be alone
  * @param closesAbove whether the watermark has to be above the end of a session that closes
  */
final case class SessionRules(
    touchingMerges: Boolean = false,
    lateRule: LateRule = LateRule.WindowClosed,
    closesAbove: Boolean = false
)

object Profile {
  val eventtide: Profile = Profile("eventtide", delays = true, refires = true)

  val jet: Profile = Profile(
    "jet",
    lateRule = LateRule.FrameClosed,
    session = SessionRules(lateRule = LateRule.BehindWatermark, closesAbove = true)
  )

  val spark: Profile = Profile(
    "spark",
    onEveryAdvance = true,
    session = SessionRules(touchingMerges = true, lateRule = LateRule.FrameClosed)
  )

  val flink: Profile = Profile(
    "flink",
    inclusive = true,
    refires = true,
    session = SessionRules(touchingMerges = true)
  )

  /** Storm itself closes a window at its end, and then loses rows that are equal to both. */
  val storm: Profile = Profile(
    "storm",
    bounds = IntervalBounds.EndIncluded,
    lateRule = LateRule.BehindWatermark,
    onEveryAdvance = true
  )

  val voltsp: Profile = Profile("voltsp", delays = true, onEveryAdvance = true)

  val all: Seq[Profile] = Seq(eventtide, jet, spark, flink, storm, voltsp)
}
