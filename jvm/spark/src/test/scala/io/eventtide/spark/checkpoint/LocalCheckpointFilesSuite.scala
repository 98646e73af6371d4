package io.eventtide.spark.checkpoint

import java.nio.charset.StandardCharsets.UTF_8
import java.nio.file.{FileSystemException, Files, Path => JavaPath}
import java.util.concurrent.{Callable, CyclicBarrier, Executors}

import scala.jdk.CollectionConverters._
import scala.util.{Failure, Try}

import jdk.jfr.Recording
import jdk.jfr.consumer.RecordingFile
import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.{FileAlreadyExistsException, Path}
import org.apache.spark.sql.execution.streaming.checkpointing.{
  CheckpointFileManager,
  FileSystemBasedCheckpointFileManager
}
import org.scalatest.funsuite.AnyFunSuite

import io.eventtide.spark.{CheckpointConf, Driver1}

/** Checkpoint files on a local disk: whole, written once, without child processes. */
class LocalCheckpointFilesSuite extends AnyFunSuite with CheckpointWriting {

  private def conf(settings: (String, String)*): Configuration = {
    val conf = new Configuration()
    conf.set(CheckpointConf.Key, classOf[AtomicCheckpointFileManager].getName)
    settings.foreach { case (key, value) => conf.set(key, value) }
    conf
  }

  private def inFolder(work: JavaPath => Unit): Unit = {
    val folder = Files.createTempDirectory("local files")
    try work(folder)
    finally Files.walk(folder).iterator.asScala.toSeq.reverse.foreach(Files.delete)
  }

  private def manager(folder: JavaPath, settings: (String, String)*): CheckpointFileManager =
    CheckpointFileManager.create(new Path(folder.toUri), conf(settings: _*))

  override protected def path(file: JavaPath): Path = new Path(file.toUri)

  private def read(files: CheckpointFileManager, file: JavaPath): String = {
    val in = files.open(path(file))
    try new String(in.readAllBytes(), UTF_8)
    finally in.close()
  }

  private def names(folder: JavaPath): Set[String] =
    Files.list(folder).iterator.asScala.map(_.getFileName.toString).toSet

  private def recorded(event: String)(work: => Unit): Int = {
    val recording = new Recording
    recording.enable(event).withoutThreshold()
    val file = Files.createTempFile("events", ".jfr")
    try {
      recording.start()
      work
      recording.stop()
      recording.dump(file)
      RecordingFile.readAllEvents(file).asScala.count(_.getEventType.getName == event)
    } finally {
      recording.close()
      Files.delete(file)
    }
  }

  test("a file appears with all of its content when it is closed") {
    inFolder { folder =>
      val files = manager(folder)
      val file = folder.resolve("a b%20/ü#1/3")
      val out = files.createAtomic(path(file), overwriteIfPossible = false)
      out.write("first ".getBytes(UTF_8))
      out.flush()
      assert(!files.exists(path(file)))
      out.write("second".getBytes(UTF_8))
      out.close()
      assert(read(files, file) == "first second")
      assert(names(file.getParent) == Set("3"))
      assert(files.list(path(file.getParent)).map(_.getPath.getName).toSeq == Seq("3"))
      files.delete(path(file))
      files.delete(path(file))
      assert(names(file.getParent).isEmpty)
    }
  }

  test("a cancelled file never appears") {
    inFolder { folder =>
      val out = manager(folder).createAtomic(path(folder.resolve("1")), overwriteIfPossible = false)
      out.write(1)
      out.cancel()
      out.close()
      assert(names(folder).isEmpty)
    }
  }

  test("a file that cannot be finished leaves nothing") {
    inFolder { folder =>
      val inner = folder.resolve("inner")
      val out = manager(folder).createAtomic(path(inner.resolve("1")), overwriteIfPossible = false)
      Files.list(inner).iterator.asScala.foreach(Files.delete)
      assertThrows[java.nio.file.NoSuchFileException](out.close())
      assert(names(inner).isEmpty)
    }
  }

  test("of many writers of one file, one succeeds") {
    inFolder { folder =>
      val writers = 8
      val threads = Executors.newFixedThreadPool(writers)
      try
        (1 to 50).foreach { round =>
          val file = folder.resolve(round.toString)
          val start = new CyclicBarrier(writers)
          val tasks = (1 to writers).map { writer =>
            new Callable[Try[Int]] {
              def call(): Try[Int] = {
                val out = manager(folder).createAtomic(path(file), overwriteIfPossible = false)
                out.write(s"writer $writer".getBytes(UTF_8))
                start.await()
                Try(out.close()).map(_ => writer)
              }
            }
          }
          val ended = threads.invokeAll(tasks.asJava).asScala.map(_.get).toSeq
          val winners = ended.flatMap(_.toOption)
          assert(winners.size == 1)
          assert(read(manager(folder), file) == s"writer ${winners.head}")
          val errors = ended.collect { case Failure(error) => error.getClass }.toSet
          assert(errors == Set(classOf[FileAlreadyExistsException]))
        }
      finally threads.shutdown()
      assert(names(folder).size == 50)
    }
  }

  test("a replaced file has no old checksum of Hadoop") {
    inFolder { folder =>
      val hadoop = new FileSystemBasedCheckpointFileManager(path(folder), conf())
      val file = folder.resolve("metadata")
      write(hadoop, file, "old", overwrite = true)
      assert(names(folder) == Set("metadata", ".metadata.crc"))
      assert(read(manager(folder), file) == "old")
      write(manager(folder), file, "newer", overwrite = true)
      assert(names(folder) == Set("metadata"))
      assert(read(hadoop, file) == "newer")
    }
  }

  test("a new file has no old checksum of a file that was deleted by hand") {
    inFolder { folder =>
      val hadoop = new FileSystemBasedCheckpointFileManager(path(folder), conf())
      val file = folder.resolve("7")
      write(hadoop, file, "old")
      Files.delete(file)
      write(manager(folder), file, "newer")
      assert(names(folder) == Set("7"))
      assert(read(hadoop, file) == "newer")
    }
  }

  test("the folder of a checkpoint may be a symbolic link") {
    inFolder { folder =>
      val real = Files.createDirectory(folder.resolve("real"))
      val link = Files.createSymbolicLink(folder.resolve("link"), real)
      val files = manager(link)
      assert(files.createCheckpointDirectory() == path(link))
      files.mkdirs(path(link))
      write(files, link.resolve("0"), "v1")
      assert(names(real) == Set("0"))
    }
  }

  test("a file system without hard links renames") {
    val refusals = Seq(
      new UnsupportedOperationException,
      new FileSystemException("1", null, "Operation not permitted")
    )
    refusals.foreach { refusal =>
      inFolder { folder =>
        val files = new LocalCheckpointFiles(path(folder), conf(), (_, _) => throw refusal)
        val file = folder.resolve("1")
        write(files, file, "first")
        assertThrows[FileAlreadyExistsException](write(files, file, "second"))
        assert(read(files, file) == "first")
        assert(names(folder) == Set("1"))
      }
    }
  }

  test("no process is started") {
    inFolder { folder =>
      val started = recorded("jdk.ProcessStart") {
        val files = manager(folder)
        files.createCheckpointDirectory()
        files.mkdirs(path(folder.resolve("offsets")))
        (0 until 10).foreach(batch => write(files, folder.resolve(s"offsets/$batch"), "v1"))
        assert(files.list(path(folder.resolve("offsets"))).length == 10)
      }
      assert(started == 0)
    }
  }

  test("with fsync, the name of each file is on the disk as well") {
    inFolder { folder =>
      def synced(settings: (String, String)*) = recorded("jdk.FileForce") {
        val files = manager(folder, settings: _*)
        (0 until 3).foreach(_ => write(files, folder.resolve("1"), "v1", overwrite = true))
      }
      assert(synced() == 0)
      assert(synced(LocalCheckpointFiles.Fsync -> "true") == 3)
    }
  }

  test("other file systems are left to Spark") {
    inFolder { folder =>
      val settings = conf("fs.driver1.impl" -> classOf[Driver1].getName)
      assert(!LocalCheckpointFiles.isLocal(new Path(s"driver1:$folder"), settings))
      val files = CheckpointFileManager.create(new Path(s"driver1:$folder"), settings)
      val file = new Path(s"driver1:$folder/1")
      val out = files.createAtomic(file, overwriteIfPossible = false)
      out.write(1)
      out.close()
      assert(files.list(new Path(s"driver1:$folder")).map(_.getPath).toSeq == Seq(file))
    }
  }
}
