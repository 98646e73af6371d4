package io.eventtide.spark

import java.io.{ByteArrayOutputStream, IOException}

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.{FileAlreadyExistsException, Path}
import org.apache.spark.sql.execution.streaming.checkpointing.CheckpointFileManager.CancellableFSDataOutputStream
import org.apache.spark.sql.execution.streaming.checkpointing.FileSystemBasedCheckpointFileManager

/** Checkpoint files as an object store has them: a file appears at its final place when its writer
  * ends, nothing is renamed, and one that is there is replaced only where that is asked for.
  */
final class DirectFiles(root: Path, conf: Configuration)
    extends FileSystemBasedCheckpointFileManager(root, conf) {

  override def renameTempFile(source: Path, target: Path, overwriteIfPossible: Boolean): Unit =
    throw new IOException(s"an object store cannot rename $source")

  override def createAtomic(
      path: Path,
      overwriteIfPossible: Boolean
  ): CancellableFSDataOutputStream =
    new CancellableFSDataOutputStream(new ByteArrayOutputStream) {
      private var isOpen = true

      override def close(): Unit = if (isOpen) {
        isOpen = false
        super.close()
        if (!overwriteIfPossible && exists(path))
          throw new FileAlreadyExistsException(path.toString)
        val out = path.getFileSystem(conf).create(path, overwriteIfPossible)
        try underlyingStream.asInstanceOf[ByteArrayOutputStream].writeTo(out)
        finally out.close()
      }

      override def cancel(): Unit = isOpen = false
    }
}
