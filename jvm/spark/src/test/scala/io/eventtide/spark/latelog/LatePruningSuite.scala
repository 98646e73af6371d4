package io.eventtide.spark.latelog

import org.apache.spark.sql.DataFrame
import org.apache.spark.sql.execution.datasources.FilePartition
import org.apache.spark.sql.execution.datasources.v2.BatchScanExec
import org.scalatest.funsuite.AnyFunSuite
import org.scalatest.tags.Slow

import io.eventtide.spark.LocalSession
import io.eventtide.spark.options.{LateMode, LateSettings}

/** Which late files are opened for a condition, and that no row is missing for it. */
@Slow
class LatePruningSuite extends AnyFunSuite with LocalSession {
  private lazy val query = new LateQuery(spark, LateSettings(LateMode.Log, None))

  override protected def beforeAll(): Unit = {
    super.beforeAll()
    spark.experimental.extraStrategies = Seq(MarkLateStrategy(spark))
    query.start()
    try {
      query.feed(100)
      (1L to 4L).foreach(batch => query.feed(batch * 10, batch * 10 + 5)) // 10, 15; 20, 25; ...
    } finally query.stop()
  }

  private def opened(rows: DataFrame): Seq[Int] = {
    rows.collect()
    val scans = rows.queryExecution.executedPlan.collect { case scan: BatchScanExec => scan }
    val partitions = scans.flatMap(_.inputPartitions).collect { case files: FilePartition => files }
    partitions
      .flatMap(_.files)
      .map(_.filePath.toPath.getName.takeWhile(_ != '-').toInt)
      .distinct
      .sorted
  }

  private def time(second: Int): String = s"timestamp'1970-01-01 00:00:$second'"

  test("without a condition all are opened") {
    assert(opened(query.read) == Seq(1, 2, 3, 4) && query.read.count() == 8)
  }

  Seq(
    "_batch_id = 2" -> Seq(2),
    "2 = _batch_id" -> Seq(2),
    "_batch_id in (1, 4, 9)" -> Seq(1, 4),
    "_batch_id < 2" -> Seq(1),
    "_batch_id > 2" -> Seq(3, 4),
    "_batch_id between 2 and 3" -> Seq(2, 3),
    "_batch_id = 1 or _batch_id = 3" -> Seq(1, 3),
    "_batch_id % 2 = 0 and _batch_id <> 4" -> Seq(2),
    "not _batch_id = 2" -> Seq(1, 3, 4),
    "_batch_id is null" -> Nil,
    "_batch_id = 77" -> Nil,
    s"_event_time = ${time(25)}" -> Seq(2),
    s"_event_time < ${time(20)}" -> Seq(1),
    s"_event_time <= ${time(20)}" -> Seq(1, 2),
    s"_event_time > ${time(35)}" -> Seq(4),
    s"${time(35)} <= _event_time" -> Seq(3, 4),
    s"_event_time between ${time(16)} and ${time(30)}" -> Seq(2, 3),
    s"_event_time > ${time(12)} and _batch_id < 3" -> Seq(1, 2),
    s"_event_time > ${time(12)} or _batch_id < 3" -> Seq(1, 2, 3, 4),
    "_reason = 'behind_watermark'" -> Seq(1, 2, 3, 4)
  ).foreach { case (condition, expected) =>
    test(s"of those where $condition only the ones with such rows") {
      val rows = query.read.where(condition)
      assert(opened(rows) == expected)
      val all = spark.createDataFrame(query.read.collectAsList(), query.read.schema)
      assert(rows.count() == all.where(condition).count())
    }
  }
}
