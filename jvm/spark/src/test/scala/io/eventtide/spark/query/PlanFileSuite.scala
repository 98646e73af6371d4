package io.eventtide.spark.query

import java.nio.file.{Files, Paths}

import org.apache.hadoop.fs.Path
import org.scalatest.funsuite.AnyFunSuite

import io.eventtide.spark.{CheckpointConf, EventtideException}

class PlanFileSuite extends AnyFunSuite {

  private def newRoot(): Path = new Path(Files.createTempDirectory("plan").toUri)

  private def check(root: Path, inputs: String*): Unit =
    new PlanFile(root, CheckpointConf()).check(inputs)

  private def writeOffset(root: Path): Unit = {
    val offsets = Files.createDirectories(Paths.get(root.toUri).resolve("offsets"))
    val _ = Files.createFile(offsets.resolve("0"))
  }

  private def refusal(action: => Unit): EventtideException = intercept[EventtideException](action)

  test("the plan of a checkpoint that has batches must stay") {
    val root = newRoot()
    check(root, "with_fixed_lag", "storm")
    writeOffset(root)
    check(root, "with_fixed_lag", "storm")
    val error = refusal(check(root, "with_fixed_lag"))
    assert(error.condition == "CHECKPOINT_PLAN_CHANGED")
    assert(error.getMessage.contains("'storm', and this query has 'nothing'"))
  }

  test("an expression may have lines of its own") {
    val root = newRoot()
    check(root, "with_fixed_lag, by concat_ws(\n, a, b)", "storm")
    writeOffset(root)
    check(root, "with_fixed_lag, by concat_ws(\n, a, b)", "storm")
    assert(
      refusal(check(root, "with_fixed_lag, by concat_ws(\n, a, c)", "storm")).condition ==
        "CHECKPOINT_PLAN_CHANGED"
    )
  }

  test("the plan of a run that ended before its first batch binds nobody") {
    val root = newRoot()
    check(root, "with_fixed_lag")
    check(root, "storm")
    writeOffset(root)
    check(root, "storm")
  }

  test("a checkpoint with batches and no plan is refused, and left as it is") {
    val root = newRoot()
    writeOffset(root)
    assert(refusal(check(root, "storm")).condition == "CHECKPOINT_WITHOUT_EVENTTIDE")
    assert(!Files.exists(Paths.get(root.toUri).resolve("eventtide")))
  }

  test("a plan of another format version is refused by name") {
    val root = newRoot()
    check(root, "storm")
    writeOffset(root)
    Files.delete(Paths.get(root.toUri).resolve("eventtide/.plan.crc"))
    Files.writeString(Paths.get(root.toUri).resolve("eventtide/plan"), "v9\nstorm")
    val error = refusal(check(root, "storm"))
    assert(error.condition == "PLAN_VERSION" && error.getMessage.contains("v9"))
  }
}
