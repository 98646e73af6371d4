package io.eventtide.spark.checkpoint

import java.nio.file.{Files, Path => LocalPath, Paths}

import org.apache.hadoop.fs.Path
import org.scalatest.funsuite.AnyFunSuite

import io.eventtide.spark.options.Structure
import io.eventtide.spark.{CheckpointConf, EventtideException}

class PlanFileSuite extends AnyFunSuite {
  private val plan = CheckpointStructure(Seq(Structure("policy" -> "storm")), Nil)

  private def byKey(key: String): CheckpointStructure =
    CheckpointStructure(Nil, Seq(Structure("kind" -> "tumbling", Seq("key_by" -> key))))

  private def newRoot(): Path = new Path(Files.createTempDirectory("plan").toUri)

  private def local(root: Path, name: String): LocalPath = Paths.get(root.toUri).resolve(name)

  private def check(root: Path, plan: CheckpointStructure): Unit = {
    val file = new PlanFile(root, committed = 0, CheckpointConf())
    if (Files.exists(local(root, "offsets"))) file.refuseOther(plan, unfinished = None)
    else file.begin(plan)
  }

  private def writeOffset(root: Path): Unit = {
    val offsets = Files.createDirectories(local(root, "offsets"))
    val _ = Files.createFile(offsets.resolve("0"))
  }

  private def rewrite(root: Path)(change: String => String): Unit = {
    val file = local(root, "eventtide/plan")
    Files.deleteIfExists(local(root, "eventtide/.plan.crc"))
    val _ = Files.writeString(file, change(Files.readString(file)))
  }

  private def refusal(action: => Unit): EventtideException = intercept[EventtideException](action)

  test("the plan of a checkpoint that has batches must stay, and what differs is named") {
    val root = newRoot()
    check(root, byKey("user"))
    writeOffset(root)
    check(root, byKey("user"))
    val error = refusal(check(root, byKey("site")))
    assert(error.condition == "CHECKPOINT_PLAN_CHANGED")
    assert(
      error.getMessage.contains(s"$root: key_by: user in the checkpoint, site in this query. The")
    )
  }

  test("an expression may have lines of its own, and any characters") {
    val root = newRoot()
    check(root, byKey("concat_ws(\n, ä, \")"))
    writeOffset(root)
    check(root, byKey("concat_ws(\n, ä, \")"))
    assert(
      refusal(check(root, byKey("concat_ws(\n, b, \")"))).condition == "CHECKPOINT_PLAN_CHANGED"
    )
  }

  test("the plan of a run that ended before its first batch binds nobody") {
    val root = newRoot()
    check(root, plan)
    rewrite(root)(_.take(5))
    check(root, byKey("user"))
    writeOffset(root)
    check(root, byKey("user"))
  }

  test("a checkpoint with batches and no plan is refused, and left as it is") {
    val root = newRoot()
    writeOffset(root)
    assert(refusal(check(root, plan)).condition == "CHECKPOINT_WITHOUT_EVENTTIDE")
    assert(!Files.exists(local(root, "eventtide")))
  }

  test("a plan that is not as it was written is refused by name") {
    val damages = Seq[(String, String => String)](
      "too early" -> (_ => ""),
      "too early" -> (_.take(2)),
      "checksum" -> (_.dropRight(1)),
      "checksum" -> (_.replace("storm", "strom")),
      "checksum" -> (_.takeWhile(_ != '\n'))
    )
    damages.foreach { case (reason, damage) =>
      val root = newRoot()
      check(root, plan)
      writeOffset(root)
      rewrite(root)(damage)
      val error = refusal(check(root, plan))
      assert(error.condition == "PLAN_UNREADABLE" && error.getMessage.contains(reason))
    }
  }

  test("a plan whose lengths, numbers or bounds are none is refused by name") {
    val settings = Seq(
      Seq("size" -> "/etc/passwd"),
      Seq("slide" -> "5"),
      Seq("step" -> "5 weeks"),
      Seq("offset" -> ""),
      Seq("delay" -> "99999999999999999999s"),
      Seq("allowed_lateness" -> "9999999999999d"),
      Seq("delay" -> "99999999d 99999999d"),
      Seq("frame" -> "5s", "first_frame" -> "one"),
      Seq("bounds" -> "")
    )
    settings.foreach { wrong =>
      val root = newRoot()
      val window = CheckpointStructure(Nil, Seq(Structure("kind" -> "sliding", wrong)))
      check(root, window)
      writeOffset(root)
      val error = refusal(check(root, window))
      assert(error.condition == "PLAN_UNREADABLE" && error.getMessage.contains("invalid"))
    }
  }

  test("a file with a number that is written in another way is no plan") {
    val root = newRoot()
    check(root, plan)
    Files.writeString(local(root, "eventtide/plan.00"), "not a plan")
    assert(stored(root, 1) == plan)
  }

  test("a plan of another format version is refused by name") {
    val root = newRoot()
    check(root, plan)
    writeOffset(root)
    rewrite(root)(_ => "v9\nstorm")
    val error = refusal(check(root, plan))
    assert(error.condition == "PLAN_VERSION" && error.getMessage.contains("v9"))
  }

  private def counting(aggregates: String) =
    CheckpointStructure(Nil, Seq(Structure("kind" -> "tumbling", Seq("agg" -> aggregates))))

  private def continued(root: Path, committed: Long, current: CheckpointStructure) =
    new PlanFile(root, committed, CheckpointConf()).continue(current, _ => None)

  private def stored(root: Path, committed: Long) =
    new PlanFile(root, committed, CheckpointConf()).plan

  test("a plan that changes is written beside the one before, and counts from its batch on") {
    val root = newRoot()
    new PlanFile(root, committed = -1, CheckpointConf()).begin(counting("count(1)"))
    assert(continued(root, 1, counting("count(1)")) == counting("count(1)"))
    assert(!Files.exists(local(root, "eventtide/plan.2")))
    val changed = continued(root, 1, counting("max(a)"))
    assert(changed.windows.head.get("agg_added").contains("max(a)"))
    assert(continued(root, 1, counting("max(a)")) == changed)
    assert(stored(root, 1) == counting("count(1)") && stored(root, 2) == changed)
    continued(root, 4, counting("count(1); max(a)"))
    assert(stored(root, 4) == changed && stored(root, 5) != changed)
  }

  test("what a run without a committed batch has changed is replaced") {
    val root = newRoot()
    new PlanFile(root, committed = -1, CheckpointConf()).begin(counting("count(1)"))
    continued(root, 3, counting("max(a)"))
    continued(root, 3, counting("min(a)"))
    assert(stored(root, 4).windows.head.get("agg").contains("min(a)"))
    continued(root, 1, counting("max(a)"))
    assert(stored(root, 9).windows.head.get("agg").contains("max(a)"))
    assert(continued(root, 1, counting("count(1)")) == counting("count(1)"))
    assert(stored(root, 9) == counting("count(1)"))
  }
}
