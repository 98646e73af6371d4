package io.eventtide.spark.checkpoint

import java.io.FileNotFoundException
import java.nio.charset.StandardCharsets.UTF_8
import java.nio.file.NoSuchFileException
import java.util.UUID

import scala.util.Try

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.Path

import io.eventtide.spark.EventtideException

/** The run that a checkpoint belongs to: `<checkpoint>/eventtide/runs/<epoch>`, one file for each
  * start. The highest epoch counts.
  *
  * A run takes an epoch before it reads the batches that earlier runs have started. After it has
  * started a batch, it checks for a higher epoch. So of two runs, one detects the other. Either the
  * later run finds the started batch and replays it, or the earlier run finds the epoch and ends
  * before it runs the batch.
  *
  * A run also checks while it waits for rows. Otherwise an earlier run would write the offsets of
  * the first batch after the wait, and both runs would end: the earlier one because of the epoch,
  * the later one because of that batch.
  *
  * The file also has the `StatePartitions`, which every start takes over. So a repartitioning
  * becomes valid with one new file. If a start happens at the same time, one of the two detects the
  * other.
  */
private[spark] final class RunEpoch(root: Path, runId: UUID, conf: Configuration) {
  private val files = new CheckpointFiles(new Path(root, RunEpoch.Folder), conf)
  private val commits = new CheckpointFiles(new Path(root, "commits"), conf)
  private var epoch = -1L
  private var checkedMs = Option.empty[Long]
  private var state = Option.empty[StatePartitions]

  /** The number of this run among all starts; -1 before `begin`. */
  def number: Long = epoch

  /** The location of the windows' state, if it has been repartitioned. */
  def statePartitions: Option[StatePartitions] = state

  /** Takes the checkpoint over from any run that uses it. */
  @scala.annotation.tailrec
  def begin(): Unit = {
    val before = epochs
    val found = before.maxOption.fold(Option(RunFile("", None)))(RunEpoch.read(files, _))
    if (!found.exists(last => take(before, RunFile(runId.toString, last.state)))) begin()
  }

  /** Replaces the `StatePartitions`. Returns false and changes nothing if another run has begun
    * since `begin`.
    */
  def replace(by: StatePartitions): Boolean =
    take(Seq(epoch), RunFile(runId.toString, Some(by))) &&
      RunEpoch.statePartitions(root, conf).contains(by) // later runs have taken it over, if any

  /** Takes the next epoch after these, unless another run has it. */
  private def take(before: Seq[Long], content: RunFile): Boolean = {
    val next = before.maxOption.fold(0L)(_ + 1)
    files.create(next.toString)(_.write(content.text.getBytes(UTF_8)))
    // Another run may begin at the same time, and the last writer of a file may win.
    val isTaken = isOurs(next)
    if (isTaken) {
      epoch = next
      state = content.state
      before.foreach(old => files.delete(old.toString))
    }
    isTaken
  }

  /** Refuses to continue after another run has begun. */
  def check(): Unit = epochs.maxOption.filter(_ > epoch).foreach(takenOverBy)

  /** As `check`, at most once a second: Spark polls every few milliseconds while a query is idle.
    *
    * @param elapsedMs
    *   the time by a monotonic clock
    */
  def checkOnceASecond(elapsedMs: Long): Unit =
    if (checkedMs.forall(elapsedMs - _ >= RunEpoch.CheckEveryMs)) {
      checkedMs = Some(elapsedMs)
      check()
    }

  /** Does work on the files of the checkpoint. A later run removes and replaces files, so if one has
    * begun, the failure is `CHECKPOINT_TAKEN_OVER`, with the original failure as suppressed.
    */
  def owning[A](work: => A): A =
    try work
    catch {
      case named: EventtideException if named.condition == RunEpoch.TakenOver => throw named
      case failure @ (_: FileNotFoundException | _: NoSuchFileException | _: EventtideException) =>
        throw takenOverIn(failure).getOrElse(failure)
    }

  private def takenOverIn(failure: Throwable): Option[EventtideException] =
    Try(check()).failed.toOption.collect { case named: EventtideException =>
      named.addSuppressed(failure)
      named
    }

  /** Refuses to end a batch that another run has already committed. */
  def checkUncommitted(batchId: Long): Unit =
    if (commits.exists(batchId.toString))
      takenOver(s"another run has committed batch $batchId of $root")

  private def takenOverBy(newer: Long): Nothing =
    takenOver(s"run ${Try(runOf(newer)).getOrElse(newer.toString)} has begun on $root")

  private def takenOver(found: String): Nothing =
    throw EventtideException(RunEpoch.TakenOver, "found" -> found)

  private def epochs: Seq[Long] = files.numbers

  /** Whether the file of an epoch belongs to this run. If the file is missing, a later run has
    * removed it, and this run must not take over. Other read errors, such as a stop of the query,
    * are thrown, so that no second file is written.
    */
  private def isOurs(epoch: Long): Boolean =
    RunEpoch.read(files, epoch) match {
      case Some(file) => file.runId == runId.toString
      case None => takenOverBy(epochs.maxOption.getOrElse(epoch + 1))
    }

  private def runOf(epoch: Long): String = RunEpoch.read(files, epoch).get.runId
}

private[spark] object RunEpoch {
  private val CheckEveryMs = 1000L
  private val Folder = "eventtide/runs"

  /** The condition of a run that has ended because another run uses its checkpoint. */
  val TakenOver = "CHECKPOINT_TAKEN_OVER"

  /** The location of the state of a checkpoint's windows, if it has been repartitioned. A run may
    * begin meanwhile.
    */
  @scala.annotation.tailrec
  def statePartitions(root: Path, conf: Configuration): Option[StatePartitions] = {
    val files = new CheckpointFiles(new Path(root, Folder), conf)
    files.numbers.maxOption match {
      case None => None
      case Some(last) =>
        read(files, last) match {
          case Some(file) => file.state
          case None => statePartitions(root, conf)
        }
    }
  }

  /** The file of an epoch; None if a later run has removed it. */
  private def read(files: CheckpointFiles, epoch: Long): Option[RunFile] =
    files.text(epoch.toString).map(RunFile.read(_).getOrElse(refuse(files, epoch)))

  private def refuse(files: CheckpointFiles, epoch: Long): Nothing =
    throw EventtideException("RUN_UNREADABLE", "folder" -> files.folder, "epoch" -> epoch)
}

/** The file of an epoch: a line with the run and, after a repartitioning, a line with the
  * `StatePartitions`.
  */
private final case class RunFile(runId: String, state: Option[StatePartitions]) {
  def text: String = (runId +: state.map(_.json).toSeq).mkString("\n")
}

private object RunFile {

  /** The content of a file; None if it is damaged. */
  def read(text: String): Option[RunFile] = Try {
    val lines = text.linesIterator
    RunFile(lines.nextOption().getOrElse(""), lines.nextOption().map(StatePartitions.read))
  }.toOption
}
