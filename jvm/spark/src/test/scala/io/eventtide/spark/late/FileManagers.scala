package io.eventtide.spark.late

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.{FSDataInputStream, FileStatus, Path, PathFilter}
import org.apache.spark.sql.execution.streaming.checkpointing.CheckpointFileManager.CancellableFSDataOutputStream
import org.apache.spark.sql.execution.streaming.checkpointing.FileSystemBasedCheckpointFileManager

/** Runs `afterListing` once when a folder has been listed: what a query may do before it is read. */
final class Meanwhile(path: Path, conf: Configuration)
    extends FileSystemBasedCheckpointFileManager(path, conf) {

  override def list(path: Path, filter: PathFilter): Array[FileStatus] = {
    val listed = super.list(path, filter)
    val step = Meanwhile.afterListing
    Meanwhile.afterListing = () => ()
    step()
    listed
  }
}

object Meanwhile {
  var afterListing: () => Unit = () => ()
}

/** Counts the files that are opened, created and deleted. */
final class Counted(path: Path, conf: Configuration)
    extends FileSystemBasedCheckpointFileManager(path, conf) {

  override def open(path: Path): FSDataInputStream = {
    Counted.files += 1
    super.open(path)
  }

  override def createAtomic(
      path: Path,
      overwriteIfPossible: Boolean
  ): CancellableFSDataOutputStream = {
    Counted.files += 1
    super.createAtomic(path, overwriteIfPossible)
  }

  override def delete(path: Path): Unit = {
    Counted.files += 1
    super.delete(path)
  }
}

object Counted {
  private var files = 0

  /** How many since the call before. */
  def take(): Int = {
    val counted = files
    files = 0
    counted
  }
}
