package io.eventtide.spark.checkpoint

import org.scalatest.funsuite.AnyFunSuite

import io.eventtide.spark.options.Structure

class CheckpointStructureSuite extends AnyFunSuite {
  private val lag = Structure("policy" -> "with_fixed_lag", Seq("substream" -> "key"))
  private val storm = Structure("policy" -> "storm", Seq("substream" -> "key"))
  private val slow = Structure("kind" -> "sliding", Seq("slide" -> "10s"))
  private val fast = Structure("kind" -> "sliding", Seq("slide" -> "5s"))
  private val grown = Structure("kind" -> "cumulate", Seq("step" -> "5s"))

  private def differences(stored: CheckpointStructure, current: CheckpointStructure): Seq[String] =
    stored.differences(current)

  test("a plan is read as it was written") {
    val plan = CheckpointStructure(Seq(lag, storm), Seq(slow))
    assert(CheckpointStructure.read(plan.json) == plan)
    assert(differences(plan, CheckpointStructure.read(plan.json)).isEmpty)
    assert(
      plan.lines == Seq(
        "input 0: policy=with_fixed_lag, substream=key",
        "input 1: policy=storm, substream=key",
        "window 0: kind=sliding, slide=10s"
      )
    )
  }

  test("each difference has the name of its setting, and both values") {
    assert(
      differences(
        CheckpointStructure(Seq(lag), Seq(slow)),
        CheckpointStructure(Seq(storm), Seq(grown))
      ) == Seq(
        "policy: with_fixed_lag in the checkpoint, storm in this query",
        "kind: sliding in the checkpoint, cumulate in this query",
        "slide: 10s in the checkpoint, none in this query",
        "step: none in the checkpoint, 5s in this query"
      )
    )
  }

  test("of several inputs or windows, it is said which") {
    assert(
      differences(
        CheckpointStructure(Nil, Seq(slow, slow)),
        CheckpointStructure(Nil, Seq(slow, fast))
      ) ==
        Seq("window 1, slide: 10s in the checkpoint, 5s in this query")
    )
    assert(
      differences(
        CheckpointStructure(Seq(lag), Seq(slow)),
        CheckpointStructure(Seq(lag, storm), Nil)
      ) == Seq(
        "input 1: none in the checkpoint, policy=storm, substream=key in this query",
        "window 0: kind=sliding, slide=10s in the checkpoint, none in this query"
      )
    )
  }

  test("what an input and a window both say is said once") {
    val (stored, current) =
      (Structure("policy" -> "storm"), Structure("policy" -> "max_event_time"))
    assert(
      differences(
        CheckpointStructure(Seq(stored), Seq(stored)),
        CheckpointStructure(Seq(current), Seq(current))
      ) ==
        Seq("policy: storm in the checkpoint, max_event_time in this query")
    )
  }
}
