package io.eventtide.spark.checkpoint

import java.io.IOException
import java.nio.charset.StandardCharsets.UTF_8
import java.util.UUID

import scala.util.Try

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.{
  FSDataOutputStream,
  FSDataOutputStreamBuilder,
  FileAlreadyExistsException,
  Path
}
import org.apache.spark.sql.execution.streaming.checkpointing.CheckpointFileManager.CancellableFSDataOutputStream
import org.apache.spark.sql.execution.streaming.checkpointing.FileSystemBasedCheckpointFileManager

/** Checkpoint files in an object store: a file exists when its writer closes it.
  *
  * If the file must not exist, the store itself checks this at that moment: of several writers, one
  * succeeds. On S3 this is a request with `If-None-Match`. Spark's managers look for the file when
  * they open it, so two writers may both succeed.
  *
  * A request may take effect although its answer is lost. The file system sends it again, and is
  * refused because of its own file. So each file names its writer.
  */
private final class ConditionalCheckpointFiles(path: Path, conf: Configuration)
    extends FileSystemBasedCheckpointFileManager(path, conf) {
  import ConditionalCheckpointFiles._

  override def createAtomic(path: Path, overwrite: Boolean): CancellableFSDataOutputStream = {
    val writer = UUID.randomUUID.toString
    val builder: FSDataOutputStreamBuilder[_ <: FSDataOutputStream, _] = fs.createFile(path)
    builder.overwrite(true)
    builder.recursive()
    builder.opt(WriterHeader, writer)
    if (!overwrite) builder.must(CreateOnly, true)
    new AtomicFile(builder.build(), path, writer, overwrite)
  }

  private final class AtomicFile(
      file: FSDataOutputStream,
      path: Path,
      writer: String,
      overwrite: Boolean
  ) extends CancellableFSDataOutputStream(file) {
    private var isOpen = true

    override def close(): Unit = synchronized {
      if (isOpen) {
        isOpen = false
        try file.close()
        catch { case failure: IOException if !overwrite => settle(failure) }
      }
    }

    private def settle(failure: IOException): Unit =
      if (!isOurs) {
        if (!fs.exists(path)) throw failure
        throw new FileAlreadyExistsException(s"$path exists").initCause(failure)
      }

    private def isOurs: Boolean =
      Try(new String(fs.getXAttr(path, WriterAttribute), UTF_8)).toOption.contains(writer)

    override def cancel(): Unit = synchronized {
      if (isOpen) {
        isOpen = false
        file.abort(): Unit
      }
    }
  }
}

private object ConditionalCheckpointFiles {

  /** Hadoop's option for a file that must not exist, and the name of the capability. */
  val CreateOnly = "fs.option.create.conditional.overwrite"

  private val WriterHeader = "fs.s3a.create.header.eventtide-writer"
  private val WriterAttribute = "header.eventtide-writer"

  def isAble(path: Path, conf: Configuration): Boolean =
    path.getFileSystem(conf).hasPathCapability(path, CreateOnly)
}
