package io.eventtide.spark.checkpoint

import java.io.{BufferedOutputStream, FileOutputStream}
import java.nio.channels.FileChannel
import java.nio.file.StandardCopyOption.ATOMIC_MOVE
import java.nio.file.StandardOpenOption.READ
import java.nio.file.{
  FileAlreadyExistsException,
  FileSystemException,
  Files,
  NoSuchFileException,
  Path => JavaPath
}
import java.util.UUID

import scala.util.Using

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.{FileAlreadyExistsException => HadoopFileExists, Path}
import org.apache.spark.sql.execution.streaming.checkpointing.CheckpointFileManager.CancellableFSDataOutputStream
import org.apache.spark.sql.execution.streaming.checkpointing.FileSystemBasedCheckpointFileManager

/** Checkpoint files on a local disk, written by `java.nio`.
  *
  * Hadoop changes the permissions of each new file. Without its native library, it starts a process
  * for this, which takes most of the time of a small batch.
  *
  * A file is written under a temporary name, so a reader finds all of it or no file. If the file must
  * not exist, the final name is a hard link: of several writers, one succeeds. Spark's own managers
  * look for the file and then rename, so two writers may both succeed. A file system without hard
  * links is used in Spark's way.
  */
private final class LocalCheckpointFiles(
    path: Path,
    conf: Configuration,
    link: (JavaPath, JavaPath) => Unit = LocalCheckpointFiles.hardLink
) extends FileSystemBasedCheckpointFileManager(path, conf) {
  private val syncs = conf.getBoolean(LocalCheckpointFiles.Fsync, false)

  override def mkdirs(path: Path): Unit = makeFolder(local(path))

  // `createDirectories` fails if the folder is a symbolic link to a folder.
  private def makeFolder(folder: JavaPath): Unit = if (!Files.isDirectory(folder)) {
    makeFolder(folder.getParent)
    try Files.createDirectory(folder)
    catch {
      case _: FileAlreadyExistsException if Files.isDirectory(folder) => () // by another writer
    }
    if (syncs) LocalCheckpointFiles.sync(folder.getParent)
  }

  override def createCheckpointDirectory(): Path = {
    mkdirs(path)
    fs.makeQualified(path)
  }

  override def createAtomic(path: Path, overwrite: Boolean): CancellableFSDataOutputStream = {
    val target = local(path)
    makeFolder(target.getParent)
    val temporary = target.resolveSibling(s".${target.getFileName}.${UUID.randomUUID}.tmp")
    new AtomicFile(new FileOutputStream(temporary.toFile), temporary, target, overwrite)
  }

  // Not Hadoop's stream: Spark's writers write single bytes.
  private final class AtomicFile(
      file: FileOutputStream,
      temporary: JavaPath,
      target: JavaPath,
      overwrite: Boolean
  ) extends CancellableFSDataOutputStream(new BufferedOutputStream(file)) {
    private var isOpen = true

    override def close(): Unit = synchronized {
      if (isOpen) {
        isOpen = false
        try {
          underlyingStream.flush()
          if (syncs) file.getFD.sync()
          underlyingStream.close()
          if (overwrite) LocalCheckpointFiles.replace(temporary, target) else create()
          if (syncs) LocalCheckpointFiles.sync(target.getParent)
        } finally discard()
      }
    }

    private def create(): Unit =
      try {
        LocalCheckpointFiles.deleteChecksum(target)
        link(target, temporary)
      } catch {
        case _: FileAlreadyExistsException => throw new HadoopFileExists(s"$target exists")
        case missing: NoSuchFileException => throw missing
        case _: UnsupportedOperationException | _: FileSystemException =>
          if (Files.exists(target)) throw new HadoopFileExists(s"$target exists")
          LocalCheckpointFiles.replace(temporary, target)
      }

    override def cancel(): Unit = synchronized {
      if (isOpen) {
        isOpen = false
        discard()
      }
    }

    private def discard(): Unit = {
      file.close()
      Files.deleteIfExists(temporary): Unit
    }
  }

  private def local(path: Path): JavaPath = JavaPath.of(path.toUri.getPath)
}

private object LocalCheckpointFiles {

  /** Whether each file and its name are on the disk before the query goes on. As in Spark, they are
    * not by default: a query survives the end of its process, but perhaps not a power failure.
    */
  val Fsync = "spark.eventtide.checkpoint.fsync"

  def isLocal(path: Path, conf: Configuration): Boolean =
    path.getFileSystem(conf).getUri.getScheme == "file"

  // Hadoop's checksum of an earlier file of this name would not match.
  private def deleteChecksum(target: JavaPath): Unit =
    Files.deleteIfExists(target.resolveSibling(s".${target.getFileName}.crc")): Unit

  private def replace(temporary: JavaPath, target: JavaPath): Unit = {
    deleteChecksum(target)
    Files.move(temporary, target, ATOMIC_MOVE): Unit
  }

  private def hardLink(target: JavaPath, existing: JavaPath): Unit =
    Files.createLink(target, existing): Unit

  private def sync(folder: JavaPath): Unit =
    Using.resource(FileChannel.open(folder, READ))(_.force(true))
}
