package io.eventtide.spark.realtime

import java.nio.file.Files
import java.sql.Timestamp
import java.util.concurrent.ConcurrentLinkedQueue

import scala.jdk.CollectionConverters._

import org.apache.spark.sql.classic.SparkSession
import org.apache.spark.sql.execution.streaming.RealTimeTrigger
import org.apache.spark.sql.execution.streaming.sources.LowLatencyMemoryStream
import org.apache.spark.sql.functions.{count, lit, sum}
import org.apache.spark.sql.streaming.{StreamingQuery, Trigger}
import org.apache.spark.sql.{DataFrame, ForeachWriter, Row}
import org.scalatest.concurrent.Eventually
import org.scalatest.time.{Millis, Seconds, Span}
import org.scalatest.{BeforeAndAfterEach, TestSuite}

import io.eventtide.spark.{Eventtide, RocksSession, WatermarkPolicy, WindowBuilder}

/** A session for real-time mode, with sources and sinks of Spark. */
trait RealTimeQueries extends RocksSession with Eventually with BeforeAndAfterEach {
  this: TestSuite =>
  import RealTimeQueries._

  override protected def master: String = "local[6]"

  override protected def startSettings: Map[String, Any] =
    Map("spark.executor.heartbeatInterval" -> "500ms")

  override implicit def patienceConfig: PatienceConfig =
    PatienceConfig(timeout = Span(60, Seconds), interval = Span(20, Millis))

  override protected def beforeAll(): Unit = {
    super.beforeAll()
    Seq(
      "spark.sql.streaming.stateStore.checkpointFormatVersion" -> "2",
      "spark.sql.streaming.stateStore.rocksdb.changelogCheckpointing.enabled" -> "true",
      "spark.sql.streaming.realTimeMode.allowlistCheck" -> "false",
      "spark.sql.streaming.realTimeMode.minBatchDuration" -> "1000",
      "spark.sql.execution.sortBeforeRepartition" -> "false"
    ).foreach { case (key, value) => spark.conf.set(key, value) }
  }

  override protected def beforeEach(): Unit = results.clear()

  protected def source() = {
    implicit val session: SparkSession = spark
    import session.implicits._
    LowLatencyMemoryStream[Event](spark, 2)
  }

  protected def keyed(
      events: DataFrame,
      policy: WatermarkPolicy = WatermarkPolicy.maxEventTime
  ): WindowBuilder =
    Eventtide
      .window(events)
      .eventTime("ts", policy)
      .keyBy(events("key"))
      .watermarkScope("key")

  protected def ofAll(events: DataFrame): WindowBuilder =
    Eventtide.window(events).eventTime("ts", WatermarkPolicy.maxEventTime).keyBy(events("key"))

  protected def counts(window: WindowBuilder): DataFrame =
    window
      .agg(count(lit(1)).as("n"), sum("v").as("v"))
      .results
      .selectExpr("key", "unix_seconds(window.start) AS start", "n", "v")

  protected def byMinute(events: DataFrame) = counts(keyed(events).tumbling("1m"))

  protected def start(
      results: DataFrame,
      folder: String,
      trigger: Trigger = Trigger.RealTime("1 hour")
  ): StreamingQuery = results.writeStream
    .foreach(new Collected)
    .outputMode(if (trigger.isInstanceOf[RealTimeTrigger]) "update" else "append")
    .option("checkpointLocation", folder)
    .trigger(trigger)
    .start()

  protected def newFolder: String = Files.createTempDirectory("real-time").toString

  protected def lateValues(folder: String): Seq[Long] =
    Eventtide.lateRows(spark, folder).select("v").collect().map(_.getLong(0)).toSeq

  protected def emitted: Seq[Row] = results.asScala.toSeq

  protected def running(query: StreamingQuery)(work: StreamingQuery => Unit): Unit =
    try work(query)
    finally query.stop()
}

object RealTimeQueries {
  final case class Event(ts: Timestamp, key: String, v: Long)

  def at(second: Int, key: String, v: Long): Event = Event(new Timestamp(second * 1000L), key, v)

  val results = new ConcurrentLinkedQueue[Row]

  final class Collected extends ForeachWriter[Row] {
    override def open(partition: Long, epoch: Long): Boolean = true
    override def process(row: Row): Unit = results.add(row): Unit
    override def close(error: Throwable): Unit = ()
  }
}
