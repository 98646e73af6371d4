package io.eventtide.spark.latelog

import java.io.FileNotFoundException

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.Path

import io.eventtide.spark.EventtideException

/** A late file that an index names and that is missing or has a different length.
  *
  * @param found
  *   the length found, in bytes; None if the file is missing
  */
private[latelog] final case class DamagedLateFile(
    file: LateFileInfo,
    path: Path,
    found: Option[Long]
) {
  def reason: String =
    found.fold("it is missing")(bytes => s"it has $bytes bytes instead of ${file.bytes}")
}

/** Checks that the late files of a folder exist and have the length that was written. */
private[latelog] final class LateFilesCheck(folder: Path, conf: Configuration) {
  private lazy val system = folder.getFileSystem(conf)

  def damaged(files: Seq[LateFileInfo]): Seq[DamagedLateFile] = {
    val found = if (files.length > LateFilesCheck.Few) list() else files.flatMap(check).toMap
    files.filterNot(file => found.get(file.name).contains(file.bytes)).map { file =>
      DamagedLateFile(file, new Path(folder, file.name), found.get(file.name))
    }
  }

  private def check(file: LateFileInfo): Option[(String, Long)] =
    try Some(file.name -> system.getFileStatus(new Path(folder, file.name)).getLen)
    catch { case _: FileNotFoundException => None }

  private def list(): Map[String, Long] =
    try system.listStatus(folder).map(status => status.getPath.getName -> status.getLen).toMap
    catch { case _: FileNotFoundException => Map.empty }
}

private[latelog] object LateFilesCheck {

  /** With more files than this, the folder is listed instead of a status call for each file. */
  private val Few = 50

  def refuse(root: Path, damaged: Seq[DamagedLateFile]): Unit =
    damaged.headOption.foreach { first =>
      throw EventtideException(
        "LATE_FILES_MISSING",
        "root" -> root,
        "count" -> damaged.length,
        "file" -> first.path,
        "reason" -> first.reason
      )
    }
}
