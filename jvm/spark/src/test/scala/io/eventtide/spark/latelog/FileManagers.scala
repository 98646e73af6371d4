package io.eventtide.spark.latelog

import java.util.concurrent.atomic.AtomicReference

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.{FSDataInputStream, FileStatus, LocalFileSystem, Path, PathFilter}
import org.apache.hadoop.security.AccessControlException
import org.apache.spark.sql.execution.streaming.checkpointing.CheckpointFileManager.CancellableFSDataOutputStream
import org.apache.spark.sql.execution.streaming.checkpointing.FileSystemBasedCheckpointFileManager

/** Runs `afterListing` once when a folder has been listed: what a query may do before it is read. */
final class Meanwhile(path: Path, conf: Configuration)
    extends FileSystemBasedCheckpointFileManager(path, conf) {

  override def list(path: Path, filter: PathFilter): Array[FileStatus] = {
    val listed = super.list(path, filter)
    val step = Meanwhile.afterListing
    Meanwhile.afterListing = () => ()
    step()
    listed
  }
}

object Meanwhile {
  var afterListing: () => Unit = () => ()
}

/** Counts the files that are opened, created and deleted. */
final class Counted(path: Path, conf: Configuration)
    extends FileSystemBasedCheckpointFileManager(path, conf) {

  override def open(path: Path): FSDataInputStream = {
    Counted.files += 1
    super.open(path)
  }

  override def createAtomic(
      path: Path,
      overwriteIfPossible: Boolean
  ): CancellableFSDataOutputStream = {
    Counted.files += 1
    super.createAtomic(path, overwriteIfPossible)
  }

  override def delete(path: Path): Unit = {
    Counted.files += 1
    super.delete(path)
  }
}

object Counted {
  private var files = 0

  /** How many since the call before. */
  def take(): Int = {
    val counted = files
    files = 0
    counted
  }
}

/** Lists files as a local disk does if they are removed between their names and their lengths. */
final class Vanishing(path: Path, conf: Configuration)
    extends FileSystemBasedCheckpointFileManager(path, conf) {

  override def list(path: Path, filter: PathFilter): Array[FileStatus] = {
    val gone = Vanishing.next
    Vanishing.next = Set.empty
    super.list(path, filter).filterNot(file => gone(file.getPath.getName))
  }
}

object Vanishing {

  /** What the next listing does not have. */
  var next = Set.empty[String]
}

/** Runs an action once, just before a certain file is opened. */
final class Opened(path: Path, conf: Configuration)
    extends FileSystemBasedCheckpointFileManager(path, conf) {

  override def open(path: Path): FSDataInputStream = {
    Opened.before(path)
    super.open(path)
  }
}

object Opened {
  private var name = "" // the end of the path
  private var left = 0
  private var action = () => ()

  /** @param time
    *   before which time that the file is opened
    */
  def onOpen(name: String, time: Int = 1)(action: => Unit): Unit = {
    this.name = name
    this.left = time
    this.action = () => action
  }

  private def before(path: Path): Unit = if (left > 0 && path.toString.endsWith(name)) {
    left -= 1
    if (left == 0) action()
  }
}

/** Lets no file be written among the marks of readers, as for a user that may only read. */
final class NoMarks(path: Path, conf: Configuration)
    extends FileSystemBasedCheckpointFileManager(path, conf) {

  override def createAtomic(
      path: Path,
      overwriteIfPossible: Boolean
  ): CancellableFSDataOutputStream =
    if (path.getParent.getName == "readers") throw new AccessControlException("read only")
    else super.createAtomic(path, overwriteIfPossible)
}

/** Local files, with an action that runs once, just before one of them is opened. */
final class OpenedFiles extends LocalFileSystem {
  override def open(path: Path, bufferSize: Int): FSDataInputStream = {
    OpenedFiles.before(path)
    super.open(path, bufferSize)
  }
}

object OpenedFiles {
  private val next = new AtomicReference[(String, () => Unit)] // a part of the path

  def onOpen(part: String)(action: => Unit): Unit = next.set(part -> (() => action))

  private def before(path: Path): Unit =
    next.getAndUpdate(known => if (isOf(known, path)) null else known) match {
      case known if isOf(known, path) => known._2()
      case _ =>
    }

  private def isOf(known: (String, () => Unit), path: Path): Boolean =
    known != null && path.toString.contains(known._1)
}
