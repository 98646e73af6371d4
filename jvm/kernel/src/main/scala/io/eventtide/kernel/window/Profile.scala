package io.eventtide.kernel.window

/** The edge rules of windows in one system; `copy` changes a single rule.
  *
  *   - '''Guarantee:''' under any profile, a row is either late or in all of its open windows.
  *   - '''Restart:''' immutable; nothing to save.
  *   - '''Source:''' the systems that the profiles are named after.
  *
  * @param name name of the profile
  * @param bounds end of its interval that a window includes
  * @param lateRule rule by which a row is late
  * @param inclusive whether rows with exactly the watermark's time are no longer expected either
  * @param onEveryAdvance whether an advance of the watermark that closes no window still applies to
  *   the next rows
  * @param session rules that differ for sessions
  */
final case class Profile(
    name: String,
    bounds: IntervalBounds = IntervalBounds.ClosedOpen,
    lateRule: LateRule = LateRule.WindowClosed,
    inclusive: Boolean = false,
    onEveryAdvance: Boolean = false,
    session: SessionRules = SessionRules()
)

/** The edge rules of sessions.
  *
  * @param touchingMerges whether rows exactly one gap apart are in the same session
  * @param lateRule rule by which a row is late; its frame is the session that it would form alone
  * @param closesAbove whether a session closes only when the watermark is above its end
  */
final case class SessionRules(
    touchingMerges: Boolean = false,
    lateRule: LateRule = LateRule.WindowClosed,
    closesAbove: Boolean = false
)

object Profile {
  val eventtide: Profile = Profile("eventtide")

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
    session = SessionRules(touchingMerges = true)
  )

  /** Storm closes a window when the watermark equals its end, and then loses rows of exactly that
    * time.
    */
  val storm: Profile = Profile(
    "storm",
    bounds = IntervalBounds.OpenClosed,
    lateRule = LateRule.BehindWatermark,
    onEveryAdvance = true
  )

  val voltsp: Profile = Profile("voltsp", onEveryAdvance = true)

  val all: Seq[Profile] = Seq(eventtide, jet, spark, flink, storm, voltsp)
}
