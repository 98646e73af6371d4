package io.eventtide.spark.checkpoint

import java.nio.ByteBuffer
import java.nio.charset.StandardCharsets.UTF_8

import scala.util.control.NonFatal

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.Path

import io.eventtide.kernel.time.FrameGrid
import io.eventtide.spark.EventtideException
import io.eventtide.spark.options.{StoredFrames, Structure, WindowHistory}

/** The plan of a checkpoint: `<checkpoint>/eventtide/plan`. Each run that changes the plan adds a
  * file `plan.<batch>`, named by its first batch. The state belongs to the last of these files with
  * a committed batch.
  *
  * The first line has the format version and the CRC32C of the rest, which is the plan as JSON.
  *
  * @param committed
  *   the last committed batch; -1 for none
  */
private[spark] final class PlanFile(root: Path, committed: Long, conf: Configuration) {
  private val files = new CheckpointFiles(new Path(root, "eventtide"), conf)

  /** Records the plan of a checkpoint without batches. It replaces the plan of an earlier run that
    * failed before its first batch.
    */
  def begin(current: CheckpointStructure): Unit = {
    val text = PlanFile.write(current)
    if (!content.contains(text)) {
      batches.foreach(batch => files.delete(PlanFile.name(batch)))
      write(PlanFile.First, text)
    }
  }

  private def write(batch: Long, text: String): Unit =
    files.write(PlanFile.name(batch))(_.write(text.getBytes(UTF_8))): Unit

  /** Records the changes of a query that continues from a checkpoint with batches. They replace the
    * changes of runs without a committed batch. Returns the plan with the history of its windows.
    *
    * @param closed
    *   the last closed boundary of a grid; None if no window has closed
    */
  def continue(
      current: CheckpointStructure,
      closed: FrameGrid => Option[Long]
  ): CheckpointStructure = {
    val (stored, next) = (plan, plan.continuedBy(current, closed))
    val changed = Option.when(next != stored)(PlanFile.write(next))
    val others = batches.filter(_ > committed).filterNot(read => changed.contains(textOf(read)))
    others.foreach(batch => files.delete(PlanFile.name(batch)))
    changed.filter(_ => batches.forall(_ <= committed)).foreach(write(committed + 1, _))
    next
  }

  /** The changes of a query that can continue from the checkpoint. */
  def changes(current: CheckpointStructure): Seq[String] = plan.changes(current)

  /** Refuses a plan that cannot continue from a checkpoint with batches.
    *
    * @param unfinished
    *   the last batch, if it is not committed
    */
  def refuseOther(current: CheckpointStructure, unfinished: Option[Long]): Unit = {
    val differences = plan.differences(current)
    if (differences.nonEmpty) {
      throw EventtideException(
        "CHECKPOINT_PLAN_CHANGED",
        "root" -> root,
        "differences" -> differences.mkString("; ")
      )
    }
    unfinished.foreach(refuseOtherSizes(_, current))
  }

  // The sink may have the results of the batch. Results of other windows would repeat its rows.
  private def refuseOtherSizes(begun: Long, current: CheckpointStructure): Unit =
    planOf(begun).foreach { plan =>
      val differences = plan.windows.zip(current.windows).flatMap { case (stored, window) =>
        StoredFrames.changes(stored, window).map { case (name, was, is) => s"$name: $was, now $is" }
      }
      if (differences.nonEmpty) {
        throw EventtideException(
          "CHECKPOINT_UNFINISHED_BATCH",
          "root" -> root,
          "batch" -> begun,
          "differences" -> differences.mkString("; ")
        )
      }
    }

  private def planOf(batch: Long): Option[CheckpointStructure] =
    batches.filter(_ <= batch).maxOption.map(textOf).map(read)

  /** The plan in the checkpoint. */
  def plan: CheckpointStructure =
    content
      .map(read)
      .getOrElse(throw EventtideException("CHECKPOINT_WITHOUT_EVENTTIDE", "root" -> root))

  /** The position of a window in the checkpoint's plan, and the window with its history there; None
    * if it has no Eventtide plan. A changed window is found only if no window is unchanged.
    *
    * @param closed
    *   the last closed boundary of a grid; None if no window has closed
    */
  def windowAt(
      window: Structure,
      closed: FrameGrid => Option[Long]
  ): Option[(Int, Structure)] = content.map { text =>
    val windows = read(text).windows
    def positions(fits: Structure => Boolean) = windows.indices.filter(at => fits(windows(at)))
    val same = positions(WindowHistory.presentOf(_) == window)
    def changed = positions { stored =>
      val (before, now) = WindowHistory.lasting(stored, window)
      before == now
    }
    val stored = windows.map(WindowHistory.presentOf(_).text).mkString(" + ")
    val others = Seq("root" -> root, "current" -> window.text, "stored" -> stored)
    (if (same.isEmpty) changed else same) match {
      case Seq(at) => at -> WindowHistory.after(windows(at), window, closed)
      case Seq() => throw EventtideException("STATE_OF_OTHER_WINDOW", others: _*)
      case _ => throw EventtideException("STATE_OF_TWO_WINDOWS", others: _*)
    }
  }

  private def content: Option[String] =
    batches.filter(_ <= committed).maxOption.map(textOf)

  private def textOf(batch: Long): String =
    files.read(PlanFile.name(batch))(in => new String(in.readAllBytes(), UTF_8))

  private def batches: Seq[Long] = files.names.flatMap(PlanFile.batch)

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
  private val Version = "v2"
  private val Form = "plan(?:\\.(\\d{1,18}))?".r
  private val First = -1L

  private def name(batch: Long): String = if (batch == First) "plan" else s"plan.$batch"

  private def batch(file: String): Option[Long] = file match {
    case Form(number) => Some(Option(number).fold(First)(_.toLong)).filter(name(_) == file)
    case _ => None
  }

  private def write(plan: CheckpointStructure): String =
    s"$Version ${checksum(plan.json)}\n${plan.json}"

  private def checksum(json: String): String =
    f"${Checksum.of(ByteBuffer.wrap(json.getBytes(UTF_8)))}%08x"
}
