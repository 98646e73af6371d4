package io.eventtide.spark.query

import java.nio.charset.StandardCharsets.UTF_8

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.Path
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.eventtide.RunningQuery

import io.eventtide.spark.EventtideException
import io.eventtide.spark.plan.{PolicyWatermark, WindowAggregate}

/** The watermark plan that a checkpoint belongs to: `<checkpoint>/eventtide/plan`.
  *
  * It holds what the saved state depends on: a line an input, with the kinds of its policies and
  * throttles and its substream, and a line a window, with its sizes, rules, keys and aggregates. Lags,
  * the sizes of throttles and timeouts are not in it and may change from run to run.
  */
private[spark] final class PlanFile(root: Path, conf: Configuration) {
  private val files = new CheckpointFiles(new Path(root, "eventtide"), conf)
  private val offsets = new CheckpointFiles(new Path(root, "offsets"), conf)

  /** Refuses a checkpoint of another plan, or of a query without one; writes the plan of a new one.
    *
    * A plan without offsets beside it is of a run that ended before its first batch, and binds nobody.
    */
  def check(current: Seq[String]): Unit =
    if (offsets.names.isEmpty) begin(current.mkString("\n")) else refuseOther(lines, current)

  /** Refuses a plan that cannot go on from a checkpoint with batches. */
  def refuseOther(current: Seq[String]): Unit = refuseOther(lines, current)

  /** The plan in the checkpoint, a line for each input and each window. */
  def lines: Seq[String] =
    if (files.exists(PlanFile.Name)) read().split("\n").toSeq
    else throw EventtideException("CHECKPOINT_WITHOUT_EVENTTIDE", "root" -> root)

  /** The position of a window among those of the checkpoint; None if it is of no query of ours. */
  def windowAt(structure: String): Option[Int] = Option.when(files.exists(PlanFile.Name)) {
    val windows = lines.filter(_.startsWith(WindowAggregate.Line))
    val others = Seq("root" -> root, "current" -> structure, "stored" -> windows.mkString(" + "))
    windows.zipWithIndex.collect { case (`structure`, at) => at } match {
      case Seq(one) => one
      case Nil => throw EventtideException("STATE_OF_OTHER_WINDOW", others: _*)
      case _ => throw EventtideException("STATE_OF_TWO_WINDOWS", others: _*)
    }
  }

  // Says only the parts that differ.
  private def refuseOther(stored: Seq[String], now: Seq[String]): Unit = {
    val current = now.flatMap(_.split("\n")) // a literal in an expression may have lines of its own
    if (stored != current) refuse(stored, current)
  }

  private def refuse(stored: Seq[String], current: Seq[String]): Nothing = {
    val pairs = stored.zipAll(current, "nothing", "nothing")
    val (before, now) = pairs.filter { case (one, other) => one != other }.unzip
    throw EventtideException(
      "CHECKPOINT_PLAN_CHANGED",
      "root" -> root,
      "stored" -> before.mkString(" + "),
      "current" -> now.mkString(" + ")
    )
  }

  private def read(): String = files.read(PlanFile.Name) { in =>
    val lines = new String(in.readAllBytes(), UTF_8).split("\n", 2)
    if (lines.head != PlanFile.Version) {
      throw EventtideException(
        "PLAN_VERSION",
        "root" -> root,
        "found" -> lines.head,
        "known" -> PlanFile.Version
      )
    }
    lines(1)
  }

  private def begin(plan: String): Unit = {
    files.delete(PlanFile.Name)
    files.write(PlanFile.Name)(_.write(s"${PlanFile.Version}\n$plan".getBytes(UTF_8))): Unit
  }
}

private[spark] object PlanFile {
  private val Name = "plan"
  private val Version = "v1"

  /** What the saved state of a query with this plan depends on. */
  def linesOf(plan: LogicalPlan): Seq[String] =
    watermarks(plan).map(_.settings.structure) ++ WindowBatch.windows(plan).map(_.structure)

  /** The watermarks of a plan that are ours, in the order of its inputs. */
  def watermarks(plan: LogicalPlan): Seq[PolicyWatermark] =
    RunningQuery.watermarkNodes(plan).collect { case node: PolicyWatermark => node }
}
