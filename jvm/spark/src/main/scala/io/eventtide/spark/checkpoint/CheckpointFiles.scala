package io.eventtide.spark.checkpoint

import java.io.{DataInputStream, DataOutputStream, FileNotFoundException}
import java.nio.file.NoSuchFileException
import java.util.UUID

import com.fasterxml.jackson.databind.ObjectMapper
import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.{FileAlreadyExistsException, FileStatus, Path}
import org.apache.spark.sql.execution.streaming.checkpointing.CheckpointFileManager

import io.eventtide.spark.EventtideException

/** Files in a checkpoint, by Spark's own file manager: whole or not at all, on any file system. */
private[spark] final class CheckpointFiles(folder: Path, conf: Configuration) {
  private val files = CheckpointFileManager.create(folder, conf)

  // Once, and not for each file: every question to a file system may be one over the network.
  private lazy val makeFolder: Unit = if (!files.exists(folder)) files.mkdirs(folder)

  def exists(name: String): Boolean = files.exists(new Path(folder, name))

  def names: Seq[String] = statuses.map(_.getPath.getName)

  /** The length of each file, in bytes. */
  def sizes: Map[String, Long] =
    statuses.map(status => status.getPath.getName -> status.getLen).toMap

  // One question to the file system, and not whether there is a folder as well.
  private def statuses: Seq[FileStatus] =
    try files.list(folder).toSeq
    catch { case _: FileNotFoundException | _: NoSuchFileException => Nil }

  /** The last batch that a log of Spark's has a file of. */
  def lastBatch: Option[Long] = names.flatMap(_.toLongOption).maxOption

  def delete(name: String): Unit = files.delete(new Path(folder, name))

  def read[T](name: String)(content: DataInputStream => T): T = {
    val in = new DataInputStream(files.open(new Path(folder, name)))
    try content(in)
    finally in.close()
  }

  /** Writes a file that nobody but another run can have written meanwhile; this one ends then.
    *
    * @return
    *   its length in bytes
    */
  def write(name: String)(content: DataOutputStream => Unit): Long =
    create(name)(content).getOrElse {
      val found = s"${new Path(folder, name)} is of another run"
      throw EventtideException("CHECKPOINT_TAKEN_OVER", "found" -> found)
    }

  /** Writes a file, unless there is one of that name: not every file system can replace one.
    *
    * @return
    *   its length in bytes; None if there is one, which stays as it is
    */
  def create(name: String)(content: DataOutputStream => Unit): Option[Long] =
    try Some(createNew(name)(content))
    catch { case _: FileAlreadyExistsException => None }

  private def createNew(name: String)(content: DataOutputStream => Unit): Long = {
    makeFolder
    val out = files.createAtomic(new Path(folder, name), overwriteIfPossible = false)
    try {
      val data = new DataOutputStream(out)
      content(data)
      data.flush()
      out.close()
      data.size().toLong
    } catch {
      case failure: Throwable =>
        out.cancel()
        throw failure
    }
  }
}

private[spark] object CheckpointFiles {
  private val mapper = new ObjectMapper()

  /** The id of the query that a checkpoint is of, from Spark's own file. */
  def queryId(root: Path, conf: Configuration): UUID = {
    val metadata = new CheckpointFiles(root, conf).read("metadata")(_.readAllBytes())
    UUID.fromString(mapper.readTree(metadata).required("id").asText)
  }
}
