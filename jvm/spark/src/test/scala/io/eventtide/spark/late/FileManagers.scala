package io.eventtide.spark.late

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.{FileStatus, Path, PathFilter}
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

/** A file manager as of an object store: nothing is renamed, and a file that is there stays. */
final class WriteOnce(path: Path, conf: Configuration)
    extends FileSystemBasedCheckpointFileManager(path, conf) {

  override def createAtomic(
      path: Path,
      overwriteIfPossible: Boolean
  ): CancellableFSDataOutputStream = {
    val out = fs.create(path, false) // fails where there is one
    new CancellableFSDataOutputStream(out) {
      override def cancel(): Unit = {
        this.out.close()
        delete(path)
      }
    }
  }

  override def renameTempFile(from: Path, to: Path, overwriteIfPossible: Boolean): Unit =
    throw new UnsupportedOperationException("there is no rename")
}
