package io.eventtide.spark.checkpoint

import java.nio.file.Files
import java.util.{ConcurrentModificationException, Map => JMap}

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.{FileAlreadyExistsException, Path}
import org.apache.spark.sql.execution.streaming.runtime.StreamMetadata
import org.apache.spark.{SparkException, SparkThrowable}
import org.scalatest.funsuite.AnyFunSuite

class WriteConflictSuite extends AnyFunSuite {
  private val root = new Path("file:/data/tides")

  private def find(cause: Throwable): Option[String] = WriteConflict.find(cause, root, batchId = 3)

  private def exists(file: String) = new FileAlreadyExistsException(s"$file already exists")

  private def update(batchId: Long) =
    new SparkException("CONCURRENT_STREAM_LOG_UPDATE", Map("batchId" -> s"$batchId"), null)

  private def concurrently(log: String): Throwable =
    new ConcurrentModificationException(exists(log)) with SparkThrowable {
      override def getCondition: String = "_LEGACY_ERROR_TEMP_2207"
      override def getMessageParameters: JMap[String, String] = JMap.of("path", log)
    }

  test("another run is found by the batch or the log that Spark names") {
    assert(find(update(3)).exists(_.contains("batch 3 of")))
    assert(find(concurrently(s"$root/offsets")).exists(_.endsWith("in file:/data/tides/offsets")))
    assert(find(exists("/data/tides/commits/3")).exists(_.endsWith("/data/tides/commits/3")))
    assert(find(new java.nio.file.FileAlreadyExistsException("/data/tides/offsets/3")).isDefined)
    val metadata = exists("chaos://one/data/tides/state/0/_metadata/metadata")
    assert(find(metadata).exists(_.endsWith(" /data/tides/state/0/_metadata/metadata")))
  }

  private def failedIn(method: String): AssertionError = {
    val failed = new AssertionError("assertion failed")
    val spark = "org.apache.spark.sql.execution.streaming.runtime.MicroBatchExecution"
    failed.setStackTrace(
      Array(new StackTraceElement(spark, method, "MicroBatchExecution.scala", 1))
    )
    failed
  }

  test("offsets that come between Spark's looks at both logs are another run's") {
    assert(find(failedIn("initializeExecution")).exists(_.contains("committed batches of")))
    assert(find(failedIn("runBatch")).isEmpty)
    assert(find(new AssertionError("of the user's")).isEmpty)
  }

  test("of two first starts in one moment the second finds the query's id written") {
    val folder = new Path(Files.createTempDirectory("first").toString)
    def write(): Unit =
      StreamMetadata.write(StreamMetadata("an id"), new Path(folder, "metadata"), new Configuration)
    write()
    val conflict = WriteConflict.onStart(new RuntimeException(intercept[Exception](write())))
    assert(conflict.exists(_.condition == "CHECKPOINT_TAKEN_OVER"))
    assert(WriteConflict.onStart(concurrently(s"$root/offsets")).isEmpty)
    assert(WriteConflict.onStart(new ConcurrentModificationException("a list")).isEmpty)
  }

  test("what is of another query, or of the user's own files, is no other run of this one") {
    assert(find(update(4)).isEmpty)
    assert(find(concurrently("file:/data/tides-2/offsets")).isEmpty)
    assert(find(concurrently("file:/data/results/_spark_metadata")).isEmpty)
    assert(find(exists("/data/tides-2/offsets/3")).isEmpty)
    assert(find(exists("/data/results/3")).isEmpty)
    assert(find(new FileAlreadyExistsException()).isEmpty)
    assert(find(new ConcurrentModificationException("a list of the user's")).isEmpty)
    val below = new RuntimeException(update(3))
    assert(find(below).isEmpty) // a function of the user's that runs a query of its own
  }
}
