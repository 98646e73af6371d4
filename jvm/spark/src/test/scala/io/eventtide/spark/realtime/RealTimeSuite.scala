package io.eventtide.spark.realtime

import java.nio.file.Files
import java.sql.Timestamp
import java.util.concurrent.ConcurrentLinkedQueue

import scala.jdk.CollectionConverters._

import org.apache.spark.sql.classic.SparkSession
import org.apache.spark.sql.execution.streaming.sources.LowLatencyMemoryStream
import org.apache.spark.sql.functions.{count, lit, sum}
import org.apache.spark.sql.streaming.{StreamingQuery, Trigger}
import org.apache.spark.sql.{DataFrame, ForeachWriter, Row}
import org.scalatest.concurrent.Eventually
import org.scalatest.funsuite.AnyFunSuite
import org.scalatest.time.{Millis, Seconds, Span}

import io.eventtide.spark.{Eventtide, RocksSession, WatermarkPolicy}

/** Windows in real-time mode, with sources and sinks of Spark. */
class RealTimeSuite extends AnyFunSuite with RocksSession with Eventually {
  import RealTimeSuite._

  override protected def master: String = "local[6]"

  override implicit def patienceConfig: PatienceConfig =
    PatienceConfig(timeout = Span(60, Seconds), interval = Span(20, Millis))

  override protected def beforeAll(): Unit = {
    super.beforeAll()
    Seq(
      "spark.sql.streaming.stateStore.checkpointFormatVersion" -> "2",
      "spark.sql.streaming.stateStore.rocksdb.changelogCheckpointing.enabled" -> "true",
      "spark.sql.streaming.realTimeMode.allowlistCheck" -> "false",
      "spark.sql.execution.sortBeforeRepartition" -> "false"
    ).foreach { case (key, value) => spark.conf.set(key, value) }
  }

  private def source() = {
    implicit val session: SparkSession = spark
    import session.implicits._
    LowLatencyMemoryStream[Event](spark, 2)
  }

  private def counts(events: LowLatencyMemoryStream[Event]): DataFrame =
    Eventtide
      .window(events.toDF())
      .eventTime("ts", WatermarkPolicy.maxEventTime)
      .keyBy(events.toDF()("key"))
      .watermarkScope("key")
      .tumbling("1m")
      .agg(count(lit(1)).as("n"), sum("v").as("v"))
      .results
      .selectExpr("key", "unix_micros(window.start) div 60000000 AS minute", "n", "v")

  private def start(results: DataFrame, folder: String, batch: String = "1 hour"): StreamingQuery =
    results.writeStream
      .foreach(new Collected)
      .outputMode("update")
      .option("checkpointLocation", folder)
      .trigger(Trigger.RealTime(batch))
      .start()

  test("a window closes within the batch, after the row that closes it") {
    results.clear()
    val events = source()
    val query = start(counts(events), Files.createTempDirectory("real-time").toString)
    try {
      events.addData(0, Seq(at(0, "a", 1), at(30, "a", 2), at(10, "b", 5), at(61, "a", 4)))
      eventually(assert(results.asScala.toSeq == Seq(Row("a", 0L, 2L, 3L))))
      events.addData(1, Seq(at(200, "b", 7)))
      eventually(assert(results.asScala.toSeq.tail == Seq(Row("b", 0L, 1L, 5L))))
      assert(query.lastProgress == null)
    } finally query.stop()
  }
}

object RealTimeSuite {
  final case class Event(ts: Timestamp, key: String, v: Long)

  def at(second: Int, key: String, v: Long): Event = Event(new Timestamp(second * 1000L), key, v)

  val results = new ConcurrentLinkedQueue[Row]

  final class Collected extends ForeachWriter[Row] {
    override def open(partition: Long, epoch: Long): Boolean = true
    override def process(row: Row): Unit = results.add(row): Unit
    override def close(error: Throwable): Unit = ()
  }
}
