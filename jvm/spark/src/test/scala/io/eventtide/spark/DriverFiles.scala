package io.eventtide.spark

import java.io.{ByteArrayOutputStream, File, IOException}
import java.net.URI
import java.nio.file.{Files, StandardCopyOption}
import java.util.concurrent.ConcurrentHashMap

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.{FileAlreadyExistsException, Path, RawLocalFileSystem}
import org.apache.spark.sql.execution.streaming.checkpointing.CheckpointFileManager.CancellableFSDataOutputStream
import org.apache.spark.sql.execution.streaming.checkpointing.FileSystemBasedCheckpointFileManager

/** The local file system as one of several drivers sees it, `driver1:/folder`, so that two of them can
  * work on one checkpoint in one JVM: each has a query id of its own, by which Spark and Eventtide
  * know a running query.
  */
abstract class DriverFileSystem(scheme: String) extends RawLocalFileSystem {
  override def getUri: URI = URI.create(s"$scheme:///")
  override def getScheme: String = scheme

  override def pathToFile(path: Path): File = {
    val file = super.pathToFile(new Path(path.toUri.getPath))
    if (file.getName == "metadata" && file.getParentFile.getName == "checkpoint")
      new File(file.getParentFile, s".metadata-$scheme")
    else file
  }
}

final class Driver1 extends DriverFileSystem("driver1")
final class Driver2 extends DriverFileSystem("driver2")
final class Driver3 extends DriverFileSystem("driver3")

/** Checkpoint files whose every new name, and every removal, is a step of a driver's: a test may wait
  * there, or end the driver. A file is there whole or not at all, and is never replaced.
  */
class DriverSteps(path: Path, conf: Configuration)
    extends FileSystemBasedCheckpointFileManager(path, conf) {

  override def renameTempFile(source: Path, target: Path, overwriteIfPossible: Boolean): Unit = {
    val before = DriverSteps.Step(target.toUri.getPath, "create", isBefore = true)
    DriverSteps.of(target)(before)
    val (from, to) = (local(source), local(target))
    if (overwriteIfPossible) Files.move(from, to, StandardCopyOption.REPLACE_EXISTING)
    else {
      try Files.createLink(to, from)
      catch {
        case _: java.nio.file.FileAlreadyExistsException =>
          throw new FileAlreadyExistsException(to.toString)
      }
      Files.delete(from)
    }
    DriverSteps.of(target)(before.copy(isBefore = false))
  }

  protected def local(path: Path) = fs.asInstanceOf[RawLocalFileSystem].pathToFile(path).toPath

  override def delete(path: Path): Unit = {
    DriverSteps.of(path)(DriverSteps.Step(path.toUri.getPath, "delete", isBefore = true))
    super.delete(path)
  }

  override def createAtomic(path: Path, overwrite: Boolean): CancellableFSDataOutputStream = {
    DriverSteps.alive(path)
    super.createAtomic(path, overwrite)
  }
}

/** The same without a rename, as some object stores have it: a file that is there is found when it is
  * opened, and a new one is there when its writer ends.
  */
final class UnrenamedSteps(root: Path, conf: Configuration) extends DriverSteps(root, conf) {

  override def createAtomic(path: Path, overwrite: Boolean): CancellableFSDataOutputStream = {
    val before = DriverSteps.Step(path.toUri.getPath, "create", isBefore = true)
    DriverSteps.of(path)(before)
    if (!overwrite && exists(path)) throw new FileAlreadyExistsException(s"$path is there")
    val content = new ByteArrayOutputStream
    new CancellableFSDataOutputStream(content) {
      private var isOpen = true

      override def close(): Unit = if (isOpen) {
        isOpen = false
        super.close()
        Files.write(local(path), content.toByteArray)
        DriverSteps.of(path)(before.copy(isBefore = false))
      }

      override def cancel(): Unit = isOpen = false
    }
  }
}

object DriverSteps {
  final case class Step(file: String, operation: String, isBefore: Boolean) {

    /** As "before create commits/3". */
    def text(root: String): String =
      s"${if (isBefore) "before" else "after"} $operation ${file.stripPrefix(s"$root/")}"
  }

  private val hooks = new ConcurrentHashMap[String, Step => Unit]
  private val ended = ConcurrentHashMap.newKeySet[String]()

  /** What happens at the steps of a driver from now on. */
  def at(driver: String)(hook: Step => Unit): Unit = {
    ended.remove(driver)
    hooks.put(driver, hook): Unit
  }

  /** Ends a driver, as `kill -9` does: none of its files changes any more. */
  def kill(driver: String): Nothing = {
    ended.add(driver)
    throw new IOException(s"$driver was killed")
  }

  private[spark] def of(path: Path): Step => Unit = {
    alive(path)
    step => {
      alive(path)
      Option(hooks.get(path.toUri.getScheme)).foreach(_(step))
    }
  }

  private def alive(path: Path): Unit =
    if (ended.contains(path.toUri.getScheme)) throw new IOException("it was killed")
}
