package io.eventtide.chaos

import java.io.ByteArrayOutputStream

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.{FileAlreadyExistsException, Path}
import org.apache.spark.sql.execution.streaming.checkpointing.CheckpointFileManager.CancellableFSDataOutputStream
import org.apache.spark.sql.execution.streaming.checkpointing.FileSystemBasedCheckpointFileManager

/** Checkpoint files as the storage of their run has them: renamed to their final place; there when
  * their writer ends, where nothing can be renamed; or replaced by the last writer.
  */
final class ChaosFiles(root: Path, conf: Configuration)
    extends FileSystemBasedCheckpointFileManager(root, conf) {
  private val files = root.getFileSystem(conf)
  private val run = Faults.run(Option(root.toUri.getAuthority).getOrElse(""))

  override def renameTempFile(source: Path, target: Path, overwriteIfPossible: Boolean): Unit = {
    val replace = overwriteIfPossible || run.storageIs(RunFiles.LastWins)
    val moved = files match {
      case chaos: ChaosFileSystem => chaos.move(source, target, replace)
      case other => other.rename(source, target)
    }
    if (!moved) throw new FileAlreadyExistsException(s"$target already exists")
  }

  override def createAtomic(
      path: Path,
      overwriteIfPossible: Boolean
  ): CancellableFSDataOutputStream =
    if (run.storageIs(RunFiles.ObjectStore)) new Direct(path, overwriteIfPossible)
    else super.createAtomic(path, overwriteIfPossible)

  private final class Direct(path: Path, overwrite: Boolean)
      extends CancellableFSDataOutputStream(new ByteArrayOutputStream) {
    private var isOpen = true

    override def close(): Unit = if (isOpen) {
      isOpen = false
      super.close()
      val out = files.create(path, overwrite)
      try underlyingStream.asInstanceOf[ByteArrayOutputStream].writeTo(out)
      finally out.close()
    }

    override def cancel(): Unit = isOpen = false
  }
}
