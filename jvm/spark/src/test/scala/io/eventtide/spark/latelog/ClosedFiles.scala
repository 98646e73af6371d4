package io.eventtide.spark.latelog

import org.apache.hadoop.fs.Path
import org.apache.hadoop.fs.permission.FsPermission
import org.apache.hadoop.fs.{FSDataInputStream, FSDataOutputStream, FileStatus, LocalFileSystem}
import org.apache.hadoop.security.AccessControlException
import org.apache.hadoop.util.Progressable

/** Local files, with one folder that the account of Spark may neither read nor write. */
final class ClosedFiles extends LocalFileSystem {

  override def getFileStatus(path: Path): FileStatus = super.getFileStatus(checked(path))

  override def listStatus(path: Path): Array[FileStatus] = super.listStatus(checked(path))

  override def open(path: Path, bufferSize: Int): FSDataInputStream =
    super.open(checked(path), bufferSize)

  override def create(
      path: Path,
      permission: FsPermission,
      overwrite: Boolean,
      bufferSize: Int,
      replication: Short,
      blockSize: Long,
      progress: Progressable
  ): FSDataOutputStream =
    super.create(
      checked(path),
      permission,
      overwrite,
      bufferSize,
      replication,
      blockSize,
      progress
    )

  override def mkdirs(path: Path): Boolean = super.mkdirs(checked(path))

  override def mkdirs(path: Path, permission: FsPermission): Boolean =
    super.mkdirs(checked(path), permission)

  private def checked(path: Path): Path =
    if (ClosedFiles.folder.exists(path.toUri.getPath.startsWith(_)))
      throw new AccessControlException(s"Permission denied: $path")
    else path
}

object ClosedFiles {
  @volatile private var folder = Option.empty[String]

  /** Works while a folder is closed. */
  def closing[A](folder: Path)(work: => A): A = {
    this.folder = Some(folder.toUri.getPath)
    try work
    finally this.folder = None
  }
}
