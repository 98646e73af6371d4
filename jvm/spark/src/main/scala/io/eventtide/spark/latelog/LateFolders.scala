package io.eventtide.spark.latelog

import scala.util.Try

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.Path

import io.eventtide.spark.EventtideException
import io.eventtide.spark.checkpoint.CheckpointFiles

/** The folders of a checkpoint's late files, as the checkpoint records them. */
private[latelog] final class LateFolders(root: Path, conf: Configuration) {
  val logs: Map[Int, LateLogSpec] = new LateLogSpecs(root, conf).read()

  def paths: Seq[Path] = logs.values.map(_.folder(root)).toSeq.distinct

  def of(window: Int): Path = logs(window).folder(root)

  /** Fails if entries name a file that is missing or damaged, or whose folder is not known. */
  def refuseDamaged(entries: Seq[LateIndexEntry]): Unit = {
    entries.flatMap(_.windows).map(_.window).distinct.filterNot(logs.contains).foreach {
      LateFolders.refuseUndescribed(root, _, entries)
    }
    logs.keys.foreach { window =>
      val files = entries.flatMap(_.filesOf(window)).distinctBy(_.name)
      LateFilesCheck.refuse(root, new LateFilesCheck(of(window), conf).damaged(files))
    }
  }

  /** Fails if late files are outside the checkpoint in a folder that the user has not confirmed, or
    * that belongs to another checkpoint. The checkpoint's record alone does not allow deleting there.
    *
    * A query's folder is a subfolder of its `late_to`, next to the subfolders of other queries. So
    * the parent folder confirms only the subfolder that is named after the query's id.
    *
    * @param confirmed
    *   the folders that the user has named
    */
  def refuseUnconfirmed(confirmed: Seq[String]): Unit = {
    val known = confirmed.map(text => qualified(new Path(text))).toSet
    val outside = paths.map(qualified).filter(_ != new Path(root, "late"))
    outside.filterNot(known).foreach { folder =>
      if (!query.contains(folder.getName)) refuseForeign(folder)
      if (!known(folder.getParent)) refuseUnconfirmed(folder)
    }
    outside.foreach(new LateOwner(root, _, conf).refuseOther())
  }

  // None if the id cannot be read: then no folder counts as the query's.
  private lazy val query = Try(CheckpointFiles.queryId(root, conf).toString).toOption

  private def refuseForeign(folder: Path): Nothing = throw EventtideException(
    "LATE_FOLDER_FOREIGN",
    "root" -> root,
    "folder" -> folder,
    "query" -> query.getOrElse("not known")
  )

  private def refuseUnconfirmed(folder: Path): Nothing = throw EventtideException(
    "LATE_FOLDER_UNCONFIRMED",
    "root" -> root,
    "folder" -> folder,
    "late_to" -> folder.getParent
  )

  private def qualified(path: Path): Path = path.getFileSystem(conf).makeQualified(path)
}

private[latelog] object LateFolders {

  /** Fails if a log without a description has files. */
  def refuseUndescribed(root: Path, window: Int, entries: Seq[LateIndexEntry]): Unit =
    for {
      entry <- entries.find(_.filesOf(window).nonEmpty)
      file <- entry.filesOf(window).headOption
    } throw EventtideException(
      "LATE_LOG_UNDESCRIBED",
      "root" -> root,
      "window" -> window,
      "batch" -> entry.batchId,
      "file" -> file.name
    )
}
