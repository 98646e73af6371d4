package io.eventtide.spark.latelog

import java.nio.file.Files

import scala.util.Try

import org.apache.hadoop.fs.Path
import org.scalatest.funsuite.AnyFunSuite

import io.eventtide.spark.LocalSession
import io.eventtide.spark.api.PythonApi
import io.eventtide.spark.options.{LateMode, LateSettings}

/** Paths of users are read and written through Spark's file systems, so their permissions apply. */
class FileAccessSuite extends AnyFunSuite with LocalSession {
  private val log = LateSettings(LateMode.Log, None)

  override protected def beforeAll(): Unit = {
    super.beforeAll()
    spark.experimental.extraStrategies = Seq(MarkLateStrategy(spark))
  }

  private def closing[A](folder: Path)(work: => A): A =
    withConf("fs.file.impl.disable.cache", "true") {
      withConf("fs.file.impl", classOf[ClosedFiles].getName)(ClosedFiles.closing(folder)(work))
    }

  private def assertDenied(work: => Any): Unit = {
    val failure = Try(work).failed.get
    val causes = Iterator.iterate(failure)(_.getCause).takeWhile(_ != null).mkString("\n")
    assert(causes.contains("Permission denied"))
  }

  private def written(): LateQuery = {
    val query = new LateQuery(spark, log).start()
    try Seq(1000L, 1L).foreach(query.feed(_))
    finally query.stop()
    query
  }

  test("the late rows and the report of a closed checkpoint are refused") {
    val query = written()
    assert(query.late == Seq(1L))
    closing(query.root) {
      assertDenied(query.late)
      assertDenied(query.readStream.writeStream.format("noop").start().processAllAvailable())
      assertDenied(PythonApi.checkpointJson(spark, query.checkpoint, null))
    }
    assert(query.late == Seq(1L))
  }

  test("the late rows of a closed folder are refused, of an open checkpoint") {
    val folder = Files.createTempDirectory("late")
    val query = new LateQuery(spark, log.copy(to = Some(folder.toUri.toString))).start()
    try Seq(1000L, 1L).foreach(query.feed(_))
    finally query.stop()
    closing(new Path(folder.toUri))(assertDenied(query.late))
    assert(query.late == Seq(1L))
  }

  test("a query whose folder for late rows is closed fails before its first batch") {
    val folder = Files.createTempDirectory("late")
    val query = new LateQuery(spark, log.copy(to = Some(folder.toUri.toString)))
    closing(new Path(folder.toUri)) {
      query.start()
      try assertDenied(query.feed(1000L))
      finally query.stop()
    }
    assert(folder.toFile.list().isEmpty && query.commits == 0)
  }
}
