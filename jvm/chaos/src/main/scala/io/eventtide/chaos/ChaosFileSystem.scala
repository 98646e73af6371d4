package io.eventtide.chaos

import java.io.{FileNotFoundException, FilterOutputStream, OutputStream, RandomAccessFile}
import java.net.URI
import java.nio.file.attribute.BasicFileAttributes
import java.nio.file.{
  DirectoryNotEmptyException,
  FileAlreadyExistsException,
  Files,
  NoSuchFileException,
  Path => LocalPath,
  Paths,
  StandardCopyOption,
  StandardOpenOption
}
import java.util.Comparator

import scala.jdk.CollectionConverters._
import scala.util.Using

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.permission.FsPermission
import org.apache.hadoop.fs.{
  FSDataInputStream,
  FSDataOutputStream,
  FSInputStream,
  FileStatus,
  FileSystem,
  Path
}
import org.apache.hadoop.util.Progressable

/** The local disk as `chaos://<run>/...`, where each call is a step of its run, which may go wrong.
  *
  * A rename never replaces a file, as in HDFS; `move` may. In an object store a file is there when its
  * writer closes it, whole, and not at all where another has come first.
  */
final class ChaosFileSystem extends FileSystem {
  private var uri = URI.create("chaos:///")
  private var folder = new Path("/")

  private def run = Faults.run(Option(uri.getAuthority).getOrElse(""))

  override def initialize(name: URI, conf: Configuration): Unit = {
    super.initialize(name, conf)
    setConf(conf)
    uri = URI.create(s"chaos://${Option(name.getAuthority).getOrElse("")}")
    folder = new Path(s"$uri/")
  }

  override def getScheme: String = "chaos"
  override def getUri: URI = uri
  override def getWorkingDirectory: Path = folder
  override def setWorkingDirectory(path: Path): Unit = folder = path

  override def open(path: Path, bufferSize: Int): FSDataInputStream =
    run.around("open", name(path)) {
      if (!Files.isRegularFile(local(path))) throw new FileNotFoundException(path.toString)
      new FSDataInputStream(new LocalInput(new RandomAccessFile(local(path).toFile, "r")))
    }

  override def create(
      path: Path,
      permission: FsPermission,
      overwrite: Boolean,
      bufferSize: Int,
      replication: Short,
      blockSize: Long,
      progress: Progressable
  ): FSDataOutputStream = {
    val out = run.around("create", name(path)) {
      Files.createDirectories(local(path).getParent)
      if (run.storageIs(RunFiles.ObjectStore)) upload(path, overwrite)
      else output(path, overwrite)
    }
    new FSDataOutputStream(new WatchedOutput(out, name(path)), statistics)
  }

  private def output(path: Path, overwrite: Boolean): OutputStream = {
    val how =
      if (overwrite) Seq(StandardOpenOption.CREATE, StandardOpenOption.TRUNCATE_EXISTING)
      else Seq(StandardOpenOption.CREATE_NEW)
    try Files.newOutputStream(local(path), how :+ StandardOpenOption.WRITE: _*)
    catch { case _: FileAlreadyExistsException => throw taken(path) }
  }

  private def upload(path: Path, overwrite: Boolean): OutputStream = {
    if (!overwrite && Files.exists(local(path))) throw taken(path)
    Upload.begin(run.folder.resolve(".uploads"), local(path), overwrite)
  }

  override def append(path: Path, bufferSize: Int, progress: Progressable): FSDataOutputStream =
    throw new UnsupportedOperationException(s"append to $path")

  override def rename(source: Path, target: Path): Boolean = move(source, target, replace = false)

  /** Gives a file its final name; false if it is taken. */
  def move(source: Path, target: Path, replace: Boolean): Boolean =
    run.around("rename", name(target)) {
      if (run.storageIs(RunFiles.ObjectStore))
        throw new UnsupportedOperationException(s"an object store cannot rename $source")
      val (from, to) = (local(source), local(target))
      if (!Files.exists(from)) throw new FileNotFoundException(source.toString)
      if (replace) {
        Files.move(from, to, StandardCopyOption.ATOMIC_MOVE): Unit
        true
      } else if (Files.isDirectory(from)) {
        !Files.exists(to) && { Files.move(from, to): Unit; true }
      } else
        try { Upload.putIfAbsent(from, to); true }
        catch { case _: FileAlreadyExistsException => false }
    }

  override def delete(path: Path, recursive: Boolean): Boolean =
    run.around("delete", name(path)) {
      val file = local(path)
      if (!Files.exists(file)) false
      else if (recursive && Files.isDirectory(file)) {
        Using.resource(Files.walk(file))(_.sorted(Comparator.reverseOrder()).forEach(remove(_)))
        true
      } else remove(file)
    }

  private def remove(file: LocalPath): Boolean =
    try Files.deleteIfExists(file)
    catch {
      case _: DirectoryNotEmptyException => throw new java.io.IOException(s"$file not empty")
    }

  override def listStatus(path: Path): Array[FileStatus] =
    run.around("list", name(path)) {
      val file = local(path)
      if (!Files.exists(file)) throw new FileNotFoundException(path.toString)
      else if (!Files.isDirectory(file)) Array(getFileStatus(path))
      else {
        val found = Using.resource(Files.list(file))(_.iterator.asScala.toArray)
        val there = found.flatMap(child => statusOf(new Path(path, child.getFileName.toString)))
        val known = there.map(_.getPath.getName).toSet
        val stale = run.staleNames(name(path)).map(new Path(_)).filterNot(p => known(p.getName))
        there ++ stale.map(p =>
          new FileStatus(1, false, 1, 1, 0, makeQualified(new Path(path, p.getName)))
        )
      }
    }

  override def mkdirs(path: Path, permission: FsPermission): Boolean =
    if (Files.isDirectory(local(path))) { run.check(); true }
    else
      run.around("mkdirs", name(path)) {
        Files.createDirectories(local(path)): Unit
        true
      }

  override def getFileStatus(path: Path): FileStatus = {
    run.check()
    statusOf(path).getOrElse(throw new FileNotFoundException(path.toString))
  }

  private def statusOf(path: Path): Option[FileStatus] =
    try {
      val is = Files.readAttributes(local(path), classOf[BasicFileAttributes])
      val modified = is.lastModifiedTime.toMillis
      val length = if (is.isDirectory) 0 else is.size
      Some(new FileStatus(length, is.isDirectory, 1, 1, modified, makeQualified(path)))
    } catch { case _: NoSuchFileException => None }

  private def taken(path: Path) =
    new org.apache.hadoop.fs.FileAlreadyExistsException(path.toString)

  private def local(path: Path): LocalPath = Paths.get(name(path))
  private def name(path: Path): String = makeQualified(path).toUri.getPath

  private final class WatchedOutput(to: OutputStream, name: String) extends FilterOutputStream(to) {
    private var isOpen = true

    override def write(bytes: Array[Byte], from: Int, length: Int): Unit = {
      run.check()
      to.write(bytes, from, length)
    }

    override def close(): Unit = if (isOpen) {
      isOpen = false
      run.around("close", name) {
        try to.close()
        catch { case _: FileAlreadyExistsException => throw taken(new Path(name)) }
      }
    }
  }
}

private final class LocalInput(file: RandomAccessFile) extends FSInputStream {
  override def read(): Int = file.read()
  override def read(bytes: Array[Byte], from: Int, length: Int): Int =
    file.read(bytes, from, length)
  override def seek(to: Long): Unit = file.seek(to)
  override def getPos: Long = file.getFilePointer
  override def seekToNewSource(to: Long): Boolean = false
  override def available(): Int = (file.length - file.getFilePointer).min(Int.MaxValue).toInt
  override def close(): Unit = file.close()
}
