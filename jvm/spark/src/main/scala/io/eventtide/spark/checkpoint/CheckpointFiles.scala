package io.eventtide.spark.checkpoint

import java.io.{DataInputStream, DataOutputStream, FileNotFoundException, InputStream}
import java.nio.charset.StandardCharsets.UTF_8
import java.nio.file.NoSuchFileException
import java.util.UUID

import com.fasterxml.jackson.databind.ObjectMapper
import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.{FileAlreadyExistsException, FileStatus, Path}
import org.apache.spark.sql.execution.streaming.checkpointing.CheckpointFileManager

import io.eventtide.spark.EventtideException

/** Files in a folder of a checkpoint. Writes are atomic on any file system: they use Spark's
  * checkpoint file manager.
  */
private[spark] final class CheckpointFiles(val folder: Path, conf: Configuration) {
  private val files = CheckpointFileManager.create(folder, conf)

  // Checked once, not for each file: every file system call may be a network request.
  private lazy val makeFolder: Unit = if (!files.exists(folder)) files.mkdirs(folder)

  def exists(name: String): Boolean = files.exists(new Path(folder, name))

  def names: Seq[String] = statuses.map(_.getPath.getName)

  /** The length of each file, in bytes. */
  def sizes: Map[String, Long] =
    statuses.map(status => status.getPath.getName -> status.getLen).toMap

  // One file system call: whether the folder exists is not checked separately.
  private def statuses: Seq[FileStatus] =
    try files.list(folder).toSeq
    catch { case _: FileNotFoundException | _: NoSuchFileException => Nil }

  /** The numbers that files have as their names. `007` and `+7` are not how a number is written: a
    * file of that name would not be found again by its number.
    */
  def numbers: Seq[Long] =
    names.flatMap(name => name.toLongOption.filter(_.toString == name))

  /** The last batch with a file in this folder, which must be a Spark log. */
  def lastBatch: Option[Long] = numbers.maxOption

  def delete(name: String): Unit = files.delete(new Path(folder, name))

  /** Reads a file.
    *
    * @throws FileNotFoundException
    *   if it is missing
    */
  def read[T](name: String)(content: DataInputStream => T): T = {
    val in = new DataInputStream(open(new Path(folder, name)))
    try content(in)
    finally in.close()
  }

  /** The text of a file; None if it is missing. */
  def text(name: String): Option[String] =
    try Some(read(name)(in => new String(in.readAllBytes(), UTF_8)))
    catch { case _: FileNotFoundException | _: NoSuchFileException => None }

  private def open(file: Path): InputStream =
    try files.open(file)
    catch {
      case failure: FileNotFoundException if files.exists(file) =>
        CheckpointFiles.unreadable(file, failure)
    }

  /** Writes a new file. If the file exists, another run has written it, and this run ends.
    *
    * @return
    *   the length of the file in bytes
    */
  def write(name: String)(content: DataOutputStream => Unit): Long =
    create(name)(content).getOrElse {
      val found = s"${new Path(folder, name)} belongs to another run"
      throw EventtideException("CHECKPOINT_TAKEN_OVER", "found" -> found)
    }

  /** Writes a file unless it exists, because not every file system can replace a file.
    *
    * @return
    *   the length of the file in bytes; None if it exists, and is then left unchanged
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

  /** Fails because a file is not what it has to be. */
  def unreadable(file: Path, failure: Throwable): Nothing =
    throw EventtideException("CHECKPOINT_FILE_UNREADABLE", "file" -> file, "reason" -> failure)

  /** The id of a checkpoint's query, from Spark's `metadata` file. */
  def queryId(root: Path, conf: Configuration): UUID = {
    val metadata = new CheckpointFiles(root, conf).read("metadata")(_.readAllBytes())
    UUID.fromString(mapper.readTree(metadata).required("id").asText)
  }
}
