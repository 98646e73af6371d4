package io.eventtide.kernel.golden

import java.nio.file.Files

import org.scalatest.funsuite.AnyFunSuite

import io.eventtide.kernel.golden.GoldenSuite._

/** The runner itself: what counts as followed, deviating, waiting and failed. */
final class GoldenRulesSuite extends AnyFunSuite {

  private def step(op: String, args: Map[String, Any], expect: Any): Map[String, Any] =
    Map("op" -> op, "args" -> args, "expect" -> expect)

  private def fixedLag(steps: Map[String, Any]*): GoldenCase = made("policy.fixed_lag", steps)

  private def made(subject: String, steps: Seq[Map[String, Any]]): GoldenCase = GoldenCase(
    "made.json",
    Map(
      "id" -> "made",
      "subject" -> subject,
      "config" -> Map("lag" -> 3L),
      "steps" -> steps.toList
    )
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

  test("a subject that no player has waits, also when listed") {
    assert(outcome(made("policy.unheard_of", right.steps)) == Waiting("no policy unheard_of"))
    assert(outcome(made("unheard_of", right.steps)) == Waiting("unknown subject: unheard_of"))
    assert(outcome(made("session_window.stage9", Nil), listed = true).isInstanceOf[Waiting])
  }

  test("a construction that should be refused and is not fails") {
    val refused = Map("error" -> "some reason")
    assert(outcome(fixedLag(step("construct", Map.empty, refused))).isInstanceOf[Failed])
  }

  test("a number beyond 2 to the power of 53 is read exactly") {
    val golden = read("""{"id": "a", "subject": "s", "steps": [{"ts": 9223372036854775807}]}""")
    assert(golden.steps.head("ts") == Long.MaxValue)
  }

  private def read(text: String): GoldenCase = readAll(s"""{"cases": [$text]}""").head

  private def readAll(text: String): Seq[GoldenCase] = {
    val file = Files.createTempFile("golden", ".json")
    try GoldenFiles.cases(Files.writeString(file, text))
    finally Files.delete(file)
  }

  /** Cases with one word each that no player knows; played before it, each would look followed. */
  private val planted = Seq(
    "an unknown step" -> """{"subject": "policy.fixed_lag", "config": {"lag": 3}, "steps": [
      {"op": "event", "args": {"ts": 10}, "expect": 7}, {"op": "jump", "args": {}, "expect": null}]}""" ->
      "unknown step: jump",
    "an unknown setting" -> """{"subject": "policy.fixed_lag", "config": {"lag": 3, "unit": "s"},
      "steps": [{"op": "event", "args": {"ts": 10}, "expect": 7}]}""" ->
      "config: unknown word unit",
    "an unknown argument" -> """{"subject": "policy.fixed_lag", "config": {"lag": 3}, "steps": [
      {"op": "event", "args": {"ts": 10, "until": 12}, "expect": 7}]}""" ->
      "event: unknown word until",
    "an argument that is missing" -> """{"subject": "policy.fixed_lag", "config": {"lag": 3},
      "steps": [{"op": "event", "args": {}, "expect": null}]}""" -> "event: no ts",
    "a null" -> """{"subject": "policy.fixed_lag", "config": {"lag": 0}, "steps": [
      {"op": "event", "args": {"ts": null}, "expect": 0}]}""" ->
      "event: ts is null, which is not a number",
    "a null setting" -> """{"subject": "policy.fixed_lag", "config": {"lag": null}, "steps": []}""" ->
      "config: lag is null, which is not a number",
    "a text for a number" -> """{"subject": "policy.fixed_lag", "config": {"lag": "3s"},
      "steps": []}""" -> "config: lag is 3s, which is not a number",
    "settings that are no object" -> """{"subject": "policy.fixed_lag", "config": [3],
      "steps": []}""" -> "config is List(3), which is not an object",
    "no steps" -> """{"subject": "policy.fixed_lag", "config": {"lag": 3}}""" -> "case: no steps",
    "an expectation beside the steps" -> """{"subject": "policy.fixed_lag", "config": {"lag": 3},
      "steps": [{"op": "event", "args": {"ts": 10}, "expect": 7}], "final": {"rows": 1}}""" ->
      "case: unknown word final",
    "an answer of another kind" -> """{"subject": "policy.fixed_lag", "config": {"lag": 3}, "steps": [
      {"op": "event", "args": {"ts": 10}, "expect": {"watermark": 7}}]}""" ->
      "event: expect is Map(watermark -> 7), which is not a number",
    "an output with an unknown part" -> """{"subject": "session_window",
      "config": {"session_timeout": 10}, "steps": [
      {"op": "complete", "args": {}, "expect": [["count", 3]]}]}""" ->
      "complete: expect is List(count, 3), which is not an output of 6 parts",
    "an unknown aggregate" -> """{"subject": "session_window",
      "config": {"session_timeout": 10, "aggregate": "median"}, "steps": []}""" ->
      "config: aggregate is median, which is not sum of value or count (sum of value 1)",
    "early results without a period" -> """{"subject": "session_window",
      "config": {"session_timeout": 10}, "steps": [{"op": "early_tick", "args": {}, "expect": []}]}""" ->
      "early_tick: no early_results_period_ms",
    "a variant without an expectation" -> """{"family": "per_key", "profile": "quix", "config": {
      "window": {"kind": "tumbling", "size": 10}, "grace": 0, "variants": ["scope=key", "scope=partition"]},
      "steps": [{"op": "event", "key": "A", "ts": 1, "value": 1,
      "expect_by_variant": {"scope=key": []}}]}""" -> "expect_by_variant: no scope=partition",
    "an expectation of no variant" -> """{"family": "per_key", "profile": "quix", "config": {
      "window": {"kind": "tumbling", "size": 10}, "grace": 0},
      "steps": [{"op": "event", "key": "A", "ts": 1, "value": 1,
      "expect_by_variant": {"scope=key": []}}]}""" -> "expect_by_variant: unknown word scope=key",
    "a pane with an unknown part" -> """{"family": "late_tumbling", "profile": "flink", "config": {
      "window": {"kind": "tumbling", "size": 10}},
      "steps": [{"op": "eof", "expect": [{"key": "A", "pane": 1}]}]}""" ->
      "expect: unknown word key",
    "an expected null" -> """{"family": "late_tumbling", "profile": "flink", "config": {
      "window": {"kind": "tumbling", "size": 10}}, "steps": [{"op": "eof", "expect": null}]}""" ->
      "expect is null, which is not a list",
    "an unknown sum at the end" -> """{"family": "grace", "profile": "kafka", "config": {
      "window": {"kind": "tumbling", "size": 10}}, "steps": [], "final": {"median": 1}}""" ->
      "case: final: unknown word median",
    "a window of an unknown kind" -> """{"family": "grace", "profile": "kafka", "config": {
      "window": {"kind": "spiral", "size": 10}}, "steps": []}""" ->
      "config: window: kind is spiral, which is not tumbling or sliding",
    "a storm row without a time" -> storm(
      """{"op": "add", "id": "a", "ts": null}""",
      """"late": []"""
    ) ->
      "add: ts is null, which is not a number",
    "a storm outcome of an unknown kind" -> storm("""{"op": "tick"}""", """"replayed": []""") ->
      "case: expect: unknown word replayed",
    "a storm window with an unknown part" -> storm(
      """{"op": "tick"}""",
      """"windows": [{"step": 0, "start": 0, "end": 10, "ids": [], "count": 0}]"""
    ) -> "case: expect: windows: unknown word count",
    "a storm step with an expectation of its own" ->
      storm("""{"op": "tick", "expect": []}""", """"late": []""") -> "tick: unknown word expect",
    "a step of VoltSP's that is not there" -> volt("""{"step": 1, "late": []}""") ->
      "expect: no step 1",
    "an unknown outcome of VoltSP's" -> volt("""{"step": 0, "dropped": []}""") ->
      "case: expect: unknown word dropped",
    "a null time of VoltSP's" -> volt("""{"step": 0, "late": []}""", "null") ->
      "batch: events: ts is null, which is not a number"
  )

  private def storm(step: String, expect: String): String =
    s"""{"subject": "storm", "config": {"length": {"ms": 10}, "slide": {"ms": 10}, "lag_ms": 0,
      "streams": ["s1"]}, "steps": [$step], "expect": {$expect}}"""

  private def volt(expect: String, ts: String = "1"): String =
    s"""{"subject": "voltsp", "config": {"window": {"type": "tumbling", "span_ms": 10},
      "time_config": {"time_source": "EVENT_TIME", "watermark_strategy": "MIN_EVENT_TIME"}},
      "steps": [{"op": "batch", "events": [{"id": "a", "key": "k", "ts": $ts}]}],
      "expect": [$expect]}"""

  for (((what, text), reason) <- planted)
    test(s"a case with $what waits, as a whole") {
      val golden = read(text)
      assert(outcomeOf(golden, Map.empty) == Waiting(reason))
      assert(outcomeOf(golden, Map(golden.id -> "on purpose")) == Waiting(reason))
    }

  test("a file whose cases cannot be read has one that waits") {
    for (text <- Seq("[]", "{}", """{"cases": 3}""", """{"cases": [3]}"""))
      assert(readAll(text).map(outcomeOf(_, Map.empty)) == Seq(Waiting("unknown subject: none")))
  }

  /** Cases with each step of the reading guide that the files of the repository do without. */
  private val further = Seq(
    "early results of windows" -> """{"subject": "sliding_window", "config": {"window_size": 4,
      "slide_by": 2, "early_results_period_ms": 5}, "steps": [
      {"op": "event", "args": {"ts": 3, "key": "k", "value": 1}, "expect": []},
      {"op": "early_tick", "args": {}, "expect": [["win", 0, 4, "k", 1, "early"], ["win", 2, 6, "k", 1, "early"]]},
      {"op": "sleep", "args": {"ms": 4}, "expect": null},
      {"op": "early_tick", "args": {}, "expect": []},
      {"op": "sleep", "args": {"ms": 1}, "expect": null},
      {"op": "early_tick", "args": {}, "expect": [["win", 0, 4, "k", 1, "early"], ["win", 2, 6, "k", 1, "early"]]},
      {"op": "wm", "args": {"ts": 4}, "expect": [["win", 0, 4, "k", 1], ["wm", 4]]}]}""",
    "early results of sessions" -> """{"subject": "session_window", "config": {"session_timeout": 5,
      "early_results_period_ms": 1}, "steps": [
      {"op": "event", "args": {"ts": 3, "key": "k", "value": 1}, "expect": []},
      {"op": "early_tick", "args": {}, "expect": [["win", 3, 8, "k", 1, "early"]]},
      {"op": "event", "args": {"ts": 4, "key": "k", "value": 1}, "expect": []},
      {"op": "complete", "args": {}, "expect": [["win", 3, 9, "k", 2]]}]}""",
    "the least watermark of restored sessions" -> """{"subject": "session_window.restore",
      "config": {"guarantee": "at-least-once"}, "steps": [
      {"op": "restore_broadcast", "args": {"CURRENT_WATERMARK": 2}, "expect": null},
      {"op": "restore_broadcast", "args": {"CURRENT_WATERMARK": 1}, "expect": null},
      {"op": "finish_restore", "args": {}, "expect": null},
      {"op": "read_state", "args": {}, "expect": 1}]}""",
    "unequal watermarks of restored sessions" -> """{"subject": "session_window.restore",
      "config": {"guarantee": "exactly-once"}, "steps": [
      {"op": "restore_broadcast", "args": {"CURRENT_WATERMARK": 2}, "expect": null},
      {"op": "restore_broadcast", "args": {"CURRENT_WATERMARK": 1}, "expect": {"error": "unequal"}}]}""",
    "the end of input of sessions, after a restart" -> """{"family": "window_session", "profile": "flink",
      "config": {"window": {"kind": "session", "gap": 10}}, "steps": [
      {"op": "event", "key": "A", "ts": 1, "value": 1, "expect": []}, {"op": "snapshot_restore"},
      {"op": "eof", "expect": [{"key": "A", "value": 1, "window": [1, 11]}]}]}""",
    "rows that are generated" -> """{"family": "window_tumbling", "profile": "flink",
      "config": {"window": {"kind": "tumbling", "size": 10}, "agg": "sum"}, "steps": [
      {"op": "generate", "n": 4, "step": 4, "key": "A", "expect": []},
      {"op": "eof", "expect": [{"key": "A", "value": 3, "window": [0, 10]}, {"key": "A", "value": 3, "window": [10, 20]}]}]}""",
    "a clock that is moved on" -> """{"family": "window_processing_time", "profile": "flink",
      "config": {"window": {"kind": "tumbling", "size": 10, "time": "processing"}}, "steps": [
      {"op": "clock", "to": 3}, {"op": "event", "key": "A", "ts": 0, "value": 5, "expect": []},
      {"op": "clock_advance", "by": 7, "expect": [{"key": "A", "value": 5, "window": [0, 10]}]}]}""",
    "a split that leaves, told at a probe" -> """{"family": "split_multiplexer", "profile": "flink",
      "config": {"mode": "deferred"}, "steps": [
      {"op": "register", "split": "a"}, {"op": "register", "split": "b"},
      {"op": "split_watermark", "split": "a", "at": 2, "expect": []},
      {"op": "split_watermark", "split": "b", "at": 5, "expect": []},
      {"op": "probe", "expect": [{"watermark": 2}]}, {"op": "unregister", "split": "a", "expect": []},
      {"op": "probe", "expect": [{"watermark": 5}]}]}""",
    "late rows that give their window anew" -> lenient("accumulating", late = 3),
    "late rows that give what is new" -> lenient("discarding", late = 2),
    "a mean with as many digits as are shown" -> """{"family": "grace", "profile": "kafka", "config": {
      "window": {"kind": "tumbling", "size": 10}, "grace": 90}, "steps": [
      {"op": "event", "key": "A", "ts": 10, "value": 1}, {"op": "event", "key": "A", "ts": 9, "value": 1},
      {"op": "event", "key": "A", "ts": 10, "value": 1}],
      "final": {"max_lateness": 1, "avg_lateness": 0.333}}"""
  )

  private def lenient(accumulation: String, late: Int): String =
    s"""{"family": "late_tumbling", "profile": "flink", "config": {"lateness": 10,
      "window": {"kind": "tumbling", "size": 10}, "accumulation": "$accumulation"}, "steps": [
      {"op": "event", "key": "A", "ts": 1, "value": 1, "expect": []},
      {"op": "watermark", "at": 8, "expect": []},
      {"op": "watermark", "at": 9, "expect": [{"key": "A", "value": 1, "window": [0, 10]}]},
      {"op": "snapshot_restore"},
      {"op": "event", "key": "A", "ts": 2, "value": 2, "expect": [{"key": "A", "value": $late, "window": [0, 10]}]},
      {"op": "event", "key": "A", "ts": 12, "value": 4, "expect": []},
      {"op": "watermark", "at": 19, "expect": [{"key": "A", "value": 4, "window": [10, 20]}]},
      {"op": "event", "key": "A", "ts": 3, "value": 2, "expect": [{"late": {"key": "A", "ts": 3}}]},
      {"op": "watermark", "at": 29, "expect": []}, {"op": "eof", "expect": []}]}"""

  for ((what, text) <- further)
    test(s"a case with $what is played") { assert(outcomeOf(read(text), Map.empty) == Followed) }
}
