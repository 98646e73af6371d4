package io.eventtide.spark.late

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.Path
import org.apache.spark.sql.execution.streaming.checkpointing.CheckpointFileManager.CancellableFSDataOutputStream
import org.apache.spark.sql.execution.streaming.checkpointing.FileSystemBasedCheckpointFileManager

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
