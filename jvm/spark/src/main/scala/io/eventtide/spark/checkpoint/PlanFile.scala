package io.eventtide.spark.checkpoint

import java.nio.ByteBuffer
import java.nio.charset.StandardCharsets.UTF_8

import scala.util.control.NonFatal

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.Path

import io.eventtide.spark.EventtideException
import io.eventtide.spark.options.Structure

/** The plan that a checkpoint belongs to: `<checkpoint>/eventtide/plan`.
  *
  * The first line has the format version and the CRC32C of the rest, which is the plan as JSON.
  */
private[spark] final class PlanFile(root: Path, conf: Configuration) {
  private val files = new CheckpointFiles(new Path(root, "eventtide"), conf)

  /** Writes the plan of a checkpoint without batches.
    *
    * An existing plan is from a run without batches. If it differs, it is replaced.
    */
  def begin(current: CheckpointStructure): Unit = {
    val text = PlanFile.write(current)
    if (!content.contains(text)) {
      files.delete(PlanFile.Name)
      files.write(PlanFile.Name)(_.write(text.getBytes(UTF_8))): Unit
    }
  }

  /** Refuses a plan that cannot continue from a checkpoint with batches. */
  def refuseOther(current: CheckpointStructure): Unit = {
    val differences = plan.differences(current)
    if (differences.nonEmpty) {
      throw EventtideException(
        "CHECKPOINT_PLAN_CHANGED",
        "root" -> root,
        "differences" -> differences.mkString("; ")
      )
    }
  }

  /** The plan in the checkpoint. */
  def plan: CheckpointStructure =
    content
      .map(read)
      .getOrElse(throw EventtideException("CHECKPOINT_WITHOUT_EVENTTIDE", "root" -> root))

  /** The position of a window in the checkpoint's plan; None if it has no Eventtide plan. */
  def windowAt(window: Structure): Option[Int] = content.map { text =>
    val windows = read(text).windows
    val stored = windows.map(_.text).mkString(" + ")
    val others = Seq("root" -> root, "current" -> window.text, "stored" -> stored)
    windows.zipWithIndex.collect { case (`window`, at) => at } match {
      case Seq(one) => one
      case Nil => throw EventtideException("STATE_OF_OTHER_WINDOW", others: _*)
      case _ => throw EventtideException("STATE_OF_TWO_WINDOWS", others: _*)
    }
  }

  private def content: Option[String] = Option.when(files.exists(PlanFile.Name)) {
    files.read(PlanFile.Name)(in => new String(in.readAllBytes(), UTF_8))
  }

  private def read(text: String): CheckpointStructure = {
    val (first, json) = text.span(_ != '\n')
    first.split(' ') match {
      case Array(PlanFile.Version, checksum) if checksum == PlanFile.checksum(json.drop(1)) =>
        try CheckpointStructure.read(json)
        catch { case NonFatal(_) => unreadable("one of its fields is invalid") }
      case Array(PlanFile.Version, _) => unreadable("its checksum is wrong")
      case Array(PlanFile.Version) | Array("") => unreadable("it ends too early")
      case other =>
        throw EventtideException(
          "PLAN_VERSION",
          "root" -> root,
          "found" -> other.head,
          "known" -> PlanFile.Version
        )
    }
  }

  private def unreadable(reason: String): Nothing =
    throw EventtideException("PLAN_UNREADABLE", "root" -> root, "reason" -> reason)
}

private[spark] object PlanFile {
  private val Name = "plan"
  private val Version = "v2"

  private def write(plan: CheckpointStructure): String =
    s"$Version ${checksum(plan.json)}\n${plan.json}"

  private def checksum(json: String): String =
    f"${Checksum.of(ByteBuffer.wrap(json.getBytes(UTF_8)))}%08x"
}
