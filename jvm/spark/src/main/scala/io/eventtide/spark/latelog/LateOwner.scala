package io.eventtide.spark.latelog

import java.nio.charset.StandardCharsets.UTF_8

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.Path

import io.eventtide.spark.EventtideException
import io.eventtide.spark.checkpoint.CheckpointFiles

/** The checkpoint whose late files are in a folder outside of it: the file `_owner` in the folder.
  *
  * A copy of a checkpoint has the id and the folder of the original, but does not know which files
  * the original names. So only the owner may delete there.
  */
private[latelog] final class LateOwner(root: Path, folder: Path, conf: Configuration) {
  private val files = new CheckpointFiles(folder, conf)

  private lazy val owner = files.text(LateOwner.Name)

  /** Makes this checkpoint the owner, if the folder had none. */
  def claim(): Unit =
    if (owner.isEmpty) files.create(LateOwner.Name)(_.write(root.toString.getBytes(UTF_8))): Unit

  /** The owner, if it is another checkpoint. */
  def other: Option[String] = owner.filter(_ != root.toString)

  /** Fails if the owner is another checkpoint. */
  def refuseOther(): Unit = other.foreach { owner =>
    throw EventtideException(
      "LATE_FOLDER_SHARED",
      "root" -> root,
      "folder" -> folder,
      "owner" -> owner,
      "file" -> new Path(folder, LateOwner.Name)
    )
  }
}

private object LateOwner {
  private val Name = "_owner" // not a file for Spark's readers
}
