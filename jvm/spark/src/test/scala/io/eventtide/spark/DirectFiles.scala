package io.eventtide.spark

import java.io.{ByteArrayOutputStream, IOException}
import java.nio.file.{Files, Paths, StandardCopyOption}

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
        put(path, underlyingStream.asInstanceOf[ByteArrayOutputStream].toByteArray)
      }

      override def cancel(): Unit = isOpen = false

      // Readers see the whole file or none, as in a store of objects.
      private def put(path: Path, bytes: Array[Byte]): Unit = {
        val target = Paths.get(path.toUri.getPath)
        Files.createDirectories(target.getParent)
        val whole = Files.write(Files.createTempFile("object", null), bytes)
        try
          if (overwriteIfPossible) {
            Files.deleteIfExists(target.resolveSibling(s".${target.getFileName}.crc"))
            Files.move(whole, target, StandardCopyOption.ATOMIC_MOVE)
          } else Files.createLink(target, whole)
        catch {
          case _: java.nio.file.FileAlreadyExistsException =>
            throw new FileAlreadyExistsException(path.toString)
        } finally Files.deleteIfExists(whole)
      }
    }
}
