package io.eventtide.spark.checkpoint

import java.io.IOException
import java.nio.charset.StandardCharsets.UTF_8
import java.nio.file.{Files, Path => JavaPath}

import scala.jdk.CollectionConverters._

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.{FileAlreadyExistsException, Path}
import org.apache.spark.sql.execution.streaming.checkpointing.CheckpointFileManager
import org.scalatest.funsuite.AnyFunSuite

import io.eventtide.spark.CheckpointConf

/** Checkpoint files in an object store: written once, also if an answer is lost. */
class ConditionalCheckpointFilesSuite extends AnyFunSuite with CheckpointWriting {

  private def inFolder(work: JavaPath => Unit): Unit = {
    val folder = Files.createTempDirectory("conditional")
    try work(folder)
    finally {
      ConditionalStore.losesAnswers = false
      ConditionalStore.failsAfterwards = false
      Files.walk(folder).iterator.asScala.toSeq.reverse.foreach(Files.delete)
    }
  }

  private def conf: Configuration = {
    val conf = ConditionalStore.conf()
    conf.set(CheckpointConf.Key, classOf[AtomicCheckpointFileManager].getName)
    conf
  }

  override protected def path(file: JavaPath): Path = new Path(s"cond:$file")

  test("of two writers of a file, the one that closes it first has written it") {
    inFolder { folder =>
      val files = CheckpointFileManager.create(path(folder), conf)
      val file = folder.resolve("log/1")
      val slow = files.createAtomic(path(file), overwriteIfPossible = false)
      slow.write("slow".getBytes(UTF_8))
      write(files, file, "first")
      val failure = intercept[FileAlreadyExistsException](slow.close())
      assert(failure.getCause.getMessage.startsWith("412"))
      assert(Files.readString(file) == "first")
      slow.close()
      assert(Files.readString(file) == "first")
    }
  }

  test("a file that may be replaced is replaced") {
    inFolder { folder =>
      val files = CheckpointFileManager.create(path(folder), conf)
      val file = folder.resolve("metadata")
      write(files, file, "old", overwrite = true)
      write(files, file, "new", overwrite = true)
      assert(Files.readString(file) == "new")
    }
  }

  test("a writer whose answer is lost is not refused because of its own file") {
    inFolder { folder =>
      val files = CheckpointFileManager.create(path(folder), conf)
      ConditionalStore.losesAnswers = true
      write(files, folder.resolve("1"), "sent twice")
      ConditionalStore.losesAnswers = false
      ConditionalStore.failsAfterwards = true
      write(files, folder.resolve("2"), "written without an answer")
      assert(Files.readString(folder.resolve("1")) == "sent twice")
      intercept[FileAlreadyExistsException](write(files, folder.resolve("1"), "another"))
    }
  }

  test("a failure that leaves no file stays as it is") {
    inFolder { folder =>
      val files = CheckpointFileManager.create(path(folder), conf)
      val blocked = Files.writeString(folder.resolve("file"), "no folder").resolve("1")
      intercept[IOException](write(files, blocked, "nowhere"))
      assert(!Files.exists(blocked))
    }
  }

  test("a cancelled file is not there") {
    inFolder { folder =>
      val files = CheckpointFileManager.create(path(folder), conf)
      val out = files.createAtomic(path(folder.resolve("1")), overwriteIfPossible = false)
      out.write(1)
      out.cancel()
      out.cancel()
      out.close()
      assert(!Files.exists(folder.resolve("1")))
    }
  }

  test("a store that cannot refuse a file is left to Spark") {
    val settings = conf
    settings.setBoolean(ConditionalStore.Able, false)
    assert(!ConditionalCheckpointFiles.isAble(new Path("cond:/folder"), settings))
    assert(ConditionalCheckpointFiles.isAble(new Path("cond:/folder"), conf))
    assert(!ConditionalCheckpointFiles.isAble(new Path("file:/folder"), conf))
  }
}
