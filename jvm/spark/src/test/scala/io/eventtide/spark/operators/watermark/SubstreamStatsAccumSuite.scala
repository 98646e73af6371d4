package io.eventtide.spark.operators.watermark

import java.io.{ByteArrayInputStream, ByteArrayOutputStream, ObjectInputStream, ObjectOutputStream}

import org.apache.spark.sql.execution.streaming.operators.stateful.{
  EventTimeStats => SparkEventTimeStats
}
import org.scalatest.funsuite.AnyFunSuite

import io.eventtide.spark.spi.PartitionEventTimeStats

class SubstreamStatsAccumSuite extends AnyFunSuite {

  private def task(partition: Int, times: Long*): SubstreamStatsAccum = {
    val accumulator = new SubstreamStatsAccum(None)
    val rows = accumulator.begin(partition)
    times.foreach(rows.substream("all").add)
    accumulator
  }

  private def total(accumulator: SubstreamStatsAccum): Long = {
    var rows = 0L
    accumulator.reports.foreach(_.foreach((_, times) => rows += times.count))
    rows
  }

  test("partitions add up, the same partition again does not") {
    val driver = new SubstreamStatsAccum(None)
    Seq(task(0, 1, 2), task(1, 3), task(0, 1, 2)).foreach(driver.merge)
    assert(total(driver) == 3)
  }

  test("without a batch the value is that of no rows, as Spark's heartbeats need") {
    assert(task(0, 5).value == SparkEventTimeStats.zero)
    assert(new SubstreamStatsAccum(None).isZero && !task(0, 5).isZero)
  }

  test("a report survives serialisation, refused rows included") {
    val report = new PartitionEventTimeStats
    report.substream("a").add(7)
    report.badTime = 2
    report.future = 3
    val bytes = new ByteArrayOutputStream
    new ObjectOutputStream(bytes).writeObject(report)
    val again = new ObjectInputStream(new ByteArrayInputStream(bytes.toByteArray))
      .readObject()
      .asInstanceOf[PartitionEventTimeStats]
    assert(again.badTime == 2 && again.future == 3 && again.size == 1)
    again.foreach((name, times) => assert(name == "a" && times.max == 7 && times.count == 1))
  }
}
