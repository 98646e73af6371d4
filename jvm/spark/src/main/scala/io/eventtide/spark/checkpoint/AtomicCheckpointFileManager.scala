package io.eventtide.spark.checkpoint

import java.util.concurrent.atomic.AtomicBoolean

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.{FSDataInputStream, FileStatus, Path, PathFilter}
import org.apache.spark.internal.Logging
import org.apache.spark.sql.execution.streaming.checkpointing.CheckpointFileManager
import org.apache.spark.sql.execution.streaming.checkpointing.CheckpointFileManager.CancellableFSDataOutputStream
import org.apache.spark.sql.internal.SQLConf

/** The checkpoint file manager that `et.configure` sets: [[LocalCheckpointFiles]] for local disks,
  * [[ConditionalCheckpointFiles]] for stores that can refuse a second file of a name, and Spark's own
  * choice for all other file systems.
  *
  * The setting, `spark.sql.streaming.checkpointFileManagerClass`, applies to all checkpoints of a
  * session, so this class must accept all paths.
  */
final class AtomicCheckpointFileManager(path: Path, conf: Configuration)
    extends CheckpointFileManager {
  private val files = AtomicCheckpointFileManager.filesOf(path, conf)

  override def createAtomic(path: Path, overwrite: Boolean): CancellableFSDataOutputStream =
    files.createAtomic(path, overwrite)

  override def open(path: Path): FSDataInputStream = files.open(path)

  override def list(path: Path, filter: PathFilter): Array[FileStatus] = files.list(path, filter)

  override def mkdirs(path: Path): Unit = files.mkdirs(path)

  override def exists(path: Path): Boolean = files.exists(path)

  override def delete(path: Path): Unit = files.delete(path)

  override def isLocal: Boolean = files.isLocal

  override def createCheckpointDirectory(): Path = files.createCheckpointDirectory()

  override def close(): Unit = files.close()
}

private object AtomicCheckpointFileManager extends Logging {
  private val isLogged = new AtomicBoolean

  private def filesOf(path: Path, conf: Configuration): CheckpointFileManager =
    if (LocalCheckpointFiles.isLocal(path, conf)) {
      if (!isLogged.getAndSet(true)) logInfo("Checkpoints on local disks are written by java.nio")
      new LocalCheckpointFiles(path, conf)
    } else if (ConditionalCheckpointFiles.isAble(path, conf))
      new ConditionalCheckpointFiles(path, conf)
    else {
      val default = new Configuration(conf)
      default.unset(SQLConf.STREAMING_CHECKPOINT_FILE_MANAGER_CLASS.parent.key)
      CheckpointFileManager.create(path, default)
    }
}
