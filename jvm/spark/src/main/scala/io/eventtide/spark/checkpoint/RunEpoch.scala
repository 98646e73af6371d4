package io.eventtide.spark.checkpoint

import java.io.FileNotFoundException
import java.nio.charset.StandardCharsets.UTF_8
import java.nio.file.NoSuchFileException
import java.util.UUID

import scala.util.Try

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.Path

import io.eventtide.spark.EventtideException

/** Which run a checkpoint belongs to: `<checkpoint>/eventtide/runs/<epoch>`, a file for each start, of
  * which the highest counts.
  *
  * A run takes an epoch before it reads what the runs before it have begun, and looks for a higher one
  * when it has begun a batch. So of two runs one sees the other: the later one sees the batch and
  * runs it again as it was begun, or the earlier one sees the epoch and ends before it runs the batch.
  *
  * It also looks while it waits for rows. Otherwise an earlier run would write down the first batch
  * after them, and both would end: the earlier one by the epoch, the later one by that batch.
  */
private[spark] final class RunEpoch(root: Path, runId: UUID, conf: Configuration) {
  private val files = new CheckpointFiles(new Path(root, "eventtide/runs"), conf)
  private val commits = new CheckpointFiles(new Path(root, "commits"), conf)
  private var epoch = -1L
  private var lookedMs = Option.empty[Long]

  /** Takes the checkpoint over from whoever runs on it. */
  @scala.annotation.tailrec
  def begin(): Unit = {
    val before = epochs
    val next = before.maxOption.fold(0L)(_ + 1)
    files.create(next.toString)(_.write(runId.toString.getBytes(UTF_8)))
    // Another run may have begun at the same moment, and the last writer of a file may win.
    if (isOurs(next)) {
      epoch = next
      before.foreach(old => files.delete(old.toString))
    } else begin()
  }

  /** Refuses to go on once another run has begun. */
  def check(): Unit = epochs.maxOption.filter(_ > epoch).foreach(takenOverBy)

  /** As `check`, at most once a second: Spark polls every few milliseconds while a query is idle.
    *
    * @param elapsedMs
    *   by a clock that nobody sets
    */
  def checkOnceASecond(elapsedMs: Long): Unit =
    if (lookedMs.forall(elapsedMs - _ >= RunEpoch.LookEveryMs)) {
      lookedMs = Some(elapsedMs)
      check()
    }

  /** Refuses to end a batch for a second time. */
  def checkUncommitted(batchId: Long): Unit =
    if (commits.exists(batchId.toString))
      takenOver(s"another run has committed batch $batchId of $root")

  private def takenOverBy(newer: Long): Nothing =
    takenOver(s"run ${Try(runOf(newer)).getOrElse(newer.toString)} has begun on $root")

  private def takenOver(found: String): Nothing =
    throw EventtideException("CHECKPOINT_TAKEN_OVER", "found" -> found)

  private def epochs: Seq[Long] = files.names.flatMap(_.toLongOption)

  /** A file that is gone was removed by a run that began later, which is not to be taken over in turn.
    * One that cannot be read, as when the query is stopped here, is no reason to write another.
    */
  private def isOurs(epoch: Long): Boolean =
    try runOf(epoch) == runId.toString
    catch {
      case _: FileNotFoundException | _: NoSuchFileException =>
        takenOverBy(epochs.maxOption.getOrElse(epoch + 1))
    }

  private def runOf(epoch: Long): String =
    files.read(epoch.toString)(in => new String(in.readAllBytes(), UTF_8))
}

private[spark] object RunEpoch {
  private val LookEveryMs = 1000L
}
