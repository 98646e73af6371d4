package io.eventtide.spark.checkpoint

import java.nio.file.{Files, Path => JavaPath}

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.Path

import io.eventtide.spark.EventtideException

/** Symbolic links in a checkpoint on a local disk.
  *
  * Files are removed from the folders of a checkpoint by their names. A folder that is a link could
  * lead anywhere, so it is refused before anything is written or removed. The checkpoint itself may
  * be a link.
  */
private[spark] object CheckpointLinks {
  private val Folder = "eventtide"
  private val Folders =
    "late" +: Folder +:
      Seq("handler", "heal", "late", "ledger", "readers", "runs", "state").map(of => s"$Folder/$of")

  /** Refuses links in place of the folders of Eventtide.
    *
    * @param others
    *   more folders of the checkpoint, from which the caller removes files
    */
  def refuse(root: Path, conf: Configuration, others: Seq[String] = Nil): Unit =
    if (LocalCheckpointFiles.isLocal(root, conf)) {
      val local = JavaPath.of(root.toUri.getPath)
      (Folders ++ others).map(local.resolve).find(Files.isSymbolicLink(_)).foreach { link =>
        throw EventtideException(
          "CHECKPOINT_LINKED",
          "folder" -> link,
          "target" -> Files.readSymbolicLink(link)
        )
      }
    }
}
