package io.eventtide.spark.exec

import java.nio.file.Files
import java.time.Duration

import org.apache.spark.sql.catalyst.expressions.Attribute
import org.apache.spark.sql.eventtide.ScriptedQuery
import org.apache.spark.sql.functions._
import org.apache.spark.sql.types.StructType
import org.apache.spark.sql.{Column, DataFrame, Row, classic}
import org.scalatest.funsuite.AnyFunSuite

import io.eventtide.kernel.time.Frame
import io.eventtide.kernel.window.{Closing, LateRule, Sliding}
import io.eventtide.spark.options.WindowSettings
import io.eventtide.spark.plan.WindowBuilder
import io.eventtide.spark.source.{Script, ScriptSource}
import io.eventtide.spark.{Eventtide, LocalSession, WatermarkPolicy}

/** The window operator in a real query, step by step. */
final class WindowExecSuite extends AnyFunSuite with LocalSession {
  private val schema = StructType.fromDDL("ts TIMESTAMP, user STRING, amount LONG")

  override protected def beforeAll(): Unit = {
    super.beforeAll()
    val rocks = "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"
    spark.conf.set("spark.sql.streaming.stateStore.providerClass", rocks)
  }

  private def second(n: Double): java.sql.Timestamp = new java.sql.Timestamp((n * 1000).toLong)

  private def windowed(size: Int, slide: Int, aggregates: Column*)(events: DataFrame): DataFrame = {
    val policy = WatermarkPolicy.withFixedLag(Duration.ofSeconds(2))
    val stream = Eventtide.withWatermark(events, "ts", policy).asInstanceOf[classic.DataFrame]
    val time = stream.queryExecution.analyzed.output.collectFirst {
      case column: Attribute if column.name == "ts" => column
    }.get
    val frame = Frame(slide * 1000000L)
    val settings =
      WindowSettings("sliding", frame, Sliding(size / slide), Closing(LateRule.WindowClosed))
    WindowBuilder.window(stream, time, Seq(col("user")), aggregates, settings)
  }

  private def play(query: DataFrame => DataFrame)(batches: Seq[Row]*): Seq[Seq[Row]] = {
    val script = Script.create(schema)
    val events =
      spark.readStream.format(classOf[ScriptSource].getName).option("script", script.id).load()
    val checkpoint = Files.createTempDirectory("window").toString
    val result = query(events).asInstanceOf[classic.DataFrame]
    val scripted = new ScriptedQuery(result, "append", checkpoint, 1000000)
    scripted.start(availableNow = false)
    try
      batches.map { batch =>
        script.add(spark.createDataFrame(java.util.Arrays.asList(batch: _*), schema))
        scripted.settle()
        scripted.newResults().collect().toSeq
      }
    finally scripted.stop()
  }

  private def flat(n: Column): Seq[Column] = Seq(
    unix_timestamp(col("window.start")),
    unix_timestamp(col("window.end")),
    col("user"),
    n
  )

  test("a tumbling window gives a row when the watermark reaches its end") {
    val rows =
      play(events => windowed(10, 10, count(lit(1)).as("n"))(events).select(flat(col("n")): _*))(
        Seq(Row(second(1001), "a", 1L), Row(second(1005), "a", 2L), Row(second(1003), "b", 3L)),
        Seq(Row(second(1011.9), "a", 1L)),
        Seq(Row(second(1012), "a", 1L))
      )
    assert(rows(0).isEmpty)
    assert(rows(1).isEmpty)
    assert(rows(2).toSet == Set(Row(1000L, 1010L, "a", 2L), Row(1000L, 1010L, "b", 1L)))
  }
}
