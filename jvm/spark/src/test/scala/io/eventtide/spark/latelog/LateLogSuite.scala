package io.eventtide.spark.latelog

import java.io.File
import java.nio.file.Files

import org.apache.hadoop.fs.Path
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow
import org.apache.spark.sql.types.StructType
import org.apache.spark.sql.{DataFrame, Row}
import org.apache.spark.unsafe.types.UTF8String
import org.apache.spark.{SparkContext, SparkException, TaskContext}
import org.scalatest.funsuite.AnyFunSuite

import io.eventtide.kernel.window.TimeRange
import io.eventtide.spark.options.LateMode
import io.eventtide.spark.{EventtideException, LocalSession}

/** Apart from the suite, which tasks could not take along. */
private object LateTasks {
  val minute = 60000000L

  /** A row of its own, then what its substream and its key are called. */
  def row(device: String): GenericInternalRow = {
    val name = UTF8String.fromString(device)
    new GenericInternalRow(Array[Any](3 * minute, name, UTF8String.fromString("all"), name))
  }

  /** Runs tasks that each find a row of their own late. */
  def run(context: SparkContext, log: LateLog, partitions: Int)(after: TaskContext => Unit): Unit =
    context.range(0, partitions.toLong, numSlices = partitions).foreachPartition { _ =>
      val task = TaskContext.get()
      val late = log.open(task.partitionId())
      late.add(row(s"device ${task.partitionId()}"), LateReason.FrameClosed, 3 * minute, Some(2))
      after(task)
    }
}

class LateLogSuite extends AnyFunSuite with LocalSession {
  import LateTasks.{minute, row}

  private val schema = LateSchema.of(StructType.fromDDL("ts timestamp, device string"))

  override protected def master: String = "local[2, 2]" // a failed task is tried again

  private def newLog(
      folder: File,
      mode: LateMode = LateMode.Log,
      watermark: Option[Long] = Some(10 * minute)
  ): LateLog = {
    val reports = new LateAccum
    spark.sparkContext.register(reports)
    val files = Option.when(mode == LateMode.Log) {
      LateFiles(spark, new Path(folder.toURI), schema)
    }
    new LateLog(7, watermark, mode, files, reports)
  }

  private def newFolder(): File = Files.createTempDirectory("late").toFile

  private def counted(log: LateLog): DataFrame = {
    val files = log.reports.value.values.toSeq.flatMap(_.file)
    val paths = files.map(file => s"${spark.conf.get("late.folder")}/${file.name}")
    spark.read.schema(schema).parquet(paths: _*)
  }

  private def filesIn(folder: File): Seq[File] =
    folder.listFiles.toSeq.filter(_.getName.endsWith(".parquet"))

  private def run(log: LateLog, partitions: Int)(after: TaskContext => Unit): Unit =
    LateTasks.run(spark.sparkContext, log, partitions)(after)

  private def withFolder(test: File => Unit): Unit = {
    val folder = newFolder()
    spark.conf.set("late.folder", folder.toURI.toString)
    test(folder)
  }

  test("a late row has its own columns and those that say why it is late") {
    withFolder { folder =>
      val log = newLog(folder)
      run(log, 1)(_ => ())
      val expected =
        "select timestamp_micros(180000000), 'device 0', 'all', 'device 0', " +
          "timestamp_micros(180000000), timestamp_micros(600000000), interval '7' minute, " +
          "'frame_closed', 2, 7L"
      assert(counted(log).collect().toSeq == spark.sql(expected).collect().toSeq)
      val report = log.reports.value.values.head
      assert(report.rows == Map(LateReason.FrameClosed -> 1L))
      assert(report.file.get.bytes == filesIn(folder).head.length)
      assert(report.file.get.times.contains(TimeRange(3 * minute, 3 * minute)))
      assert(LateFileInfo.batches(report.file.get.name).contains(BatchRange(7, 7)))
    }
  }

  test("what is not known of a row is null") {
    withFolder { folder =>
      val log = newLog(folder, watermark = None)
      val late = log.open(0)
      late.add(row("ahead"), LateReason.Future, 50 * minute, Some(0))
      late.addWithoutTime(row("no time"))
      late.close()
      late.close()
      val columns = Seq("device", "_event_time is null", "_watermark is null", "_late_by is null")
      val rows = counted(log).selectExpr(columns :+ "_reason": _*).collect().toSet
      assert(
        rows == Set(
          Row("ahead", false, true, true, "future"),
          Row("no time", true, true, true, "bad_time")
        )
      )
    }
  }

  test("a row of the future is late by nothing") {
    withFolder { folder =>
      val log = newLog(folder)
      val late = log.open(0)
      late.add(row("ahead"), LateReason.Future, 50 * minute, Some(0))
      late.add(row("behind"), LateReason.BehindWatermark, Long.MinValue, Some(0))
      late.close()
      val by = counted(log).selectExpr("_late_by is null").collect().map(_.getBoolean(0))
      assert(by.toSeq == Seq(true, false))
    }
  }

  test("a task without late rows writes no file and reports no rows") {
    withFolder { folder =>
      val log = newLog(folder)
      log.open(0).close()
      assert(filesIn(folder).isEmpty && log.reports.value(0).total == 0)
    }
  }

  test("a task that fails is tried again, and its rows count once") {
    withFolder { folder =>
      val log = newLog(folder)
      run(log, 3) { context =>
        if (context.attemptNumber() == 0) throw new SparkException("the first attempt fails")
      }
      assert(counted(log).count() == 3 && filesIn(folder).length == 3)
    }
  }

  test("a stage that is run twice counts once, and leaves orphans") {
    withFolder { folder =>
      val log = newLog(folder)
      run(log, 2)(_ => ())
      run(log, 2)(_ => ())
      assert(counted(log).count() == 2 && filesIn(folder).length == 4)
    }
  }

  test("rows that are only counted leave no file") {
    withFolder { folder =>
      val log = newLog(folder, LateMode.Count)
      run(log, 2)(_ => ())
      val reports = log.reports.value.values
      assert(reports.map(_.total).sum == 2 && reports.forall(_.file.isEmpty))
      assert(filesIn(folder).isEmpty)
    }
  }

  test("under late='fail' the first late row stops the task, by name") {
    val late = newLog(newFolder(), LateMode.Fail).open(0)
    val error = intercept[EventtideException] {
      late.add(row("a"), LateReason.WindowClosed, 3 * minute, Some(1))
    }
    assert(error.condition == "LATE_ROW" && error.pythonClass == "RefusedDataError")
    Seq("window_closed", "1970-01-01T00:03:00Z", "1970-01-01T00:10:00Z").foreach { part =>
      assert(error.getMessage.contains(part))
    }
    val noTime = intercept[EventtideException](late.addWithoutTime(row("a")))
    assert(noTime.getMessage.contains("bad_time") && noTime.getMessage.contains("none"))
  }

  test("a task that has no rows when its stage is run again takes back what it reported") {
    withFolder { folder =>
      val log = newLog(folder)
      val first = log.open(partition = 3)
      first.add(row("a"), LateReason.FrameClosed, 3 * minute, Some(2))
      first.pass(11 * minute)
      first.close()
      assert(counted(log).count() == 1)
      log.open(partition = 3).close()
      val report = log.reports.value(3)
      assert((report.rows, report.onTime, report.file) == ((Map.empty, 0, None)))
    }
  }
}
