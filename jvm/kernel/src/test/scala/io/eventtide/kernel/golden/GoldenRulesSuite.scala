package io.eventtide.kernel.golden

import org.scalatest.funsuite.AnyFunSuite

import io.eventtide.kernel.golden.GoldenSuite._

/** The runner itself: what counts as followed, deviating, waiting and failed. */
final class GoldenRulesSuite extends AnyFunSuite {

  private def step(op: String, args: Map[String, Any], expect: Any): Map[String, Any] =
    Map("op" -> op, "args" -> args, "expect" -> expect)

  private def fixedLag(steps: Map[String, Any]*): GoldenCase = made("policy.fixed_lag", steps)

  private def made(subject: String, steps: Seq[Map[String, Any]]): GoldenCase = GoldenCase(
    "made.json",
    Map("id" -> "made", "subject" -> subject, "config" -> Map("lag" -> 3L), "steps" -> steps)
  )

  private def outcome(golden: GoldenCase, listed: Boolean = false): Outcome =
    outcomeOf(golden, if (listed) Map("made" -> "on purpose") else Map.empty)

  private val right = fixedLag(step("event", Map("ts" -> 10L), 7L))
  private val wrong = fixedLag(step("event", Map("ts" -> 10L), 8L))

  test("a case with the expected answers is followed, and one without fails") {
    assert(outcome(right) == Followed)
    assert(outcome(wrong) == Failed("step 0, event(ts -> 10): expected 8, but was 7"))
  }

  test("a listed case deviates, unless it is followed after all") {
    assert(outcome(wrong, listed = true) == Deviating("on purpose"))
    assert(outcome(right, listed = true).isInstanceOf[Failed])
  }

  test("a step or a subject that nobody knows fails, and an unknown step does so when listed too") {
    assert(outcome(fixedLag(step("jump", Map.empty, null)), listed = true).isInstanceOf[Failed])
    assert(outcome(made("policy.unheard_of", right.steps)).isInstanceOf[Failed])
    assert(outcome(made("unheard_of", right.steps)).isInstanceOf[Failed])
  }

  test("a case without a piece to play it waits, also when listed") {
    assert(outcome(made("session_window.restore", Nil)).isInstanceOf[Waiting])
    assert(outcome(made("session_window.restore", Nil), listed = true).isInstanceOf[Waiting])
  }

  test("a construction that should be refused and is not fails") {
    val refused = Map("error" -> "some reason")
    assert(outcome(fixedLag(step("construct", Map.empty, refused))).isInstanceOf[Failed])
  }

  test("a number beyond 2 to the power of 53 is read exactly") {
    val file = java.nio.file.Files.createTempFile("golden", ".json")
    java.nio.file.Files.writeString(
      file,
      """{"cases": [{"id": "a", "subject": "s", "steps": [{"ts": 9223372036854775807}]}]}"""
    )
    assert(GoldenFiles.cases(file).head.steps.head("ts") == Long.MaxValue)
  }
}
