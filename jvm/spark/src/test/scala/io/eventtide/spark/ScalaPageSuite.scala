package io.eventtide.spark

import java.time.Duration

import org.apache.spark.sql.DataFrame
import org.apache.spark.sql.functions.{col, window}
import org.scalatest.funsuite.AnyFunSuite

/** The example of docs/reference/scala.md; tests/unit compares it with the page. */
class ScalaPageSuite extends AnyFunSuite with LocalSession {
  test("the example of the page is a query") {
    val rate = spark.readStream.format("rate").load()
    assert(example(rate.selectExpr("timestamp as ts", "'a' as device")).isStreaming)
  }

  private def example(events: DataFrame): DataFrame = {
    // begin
    val policy = WatermarkPolicy
      .limitingLagAndLull(Duration.ofSeconds(10), Duration.ofMinutes(1))
      .throttleByFrame(Duration.ofMinutes(1))
    val options = WatermarkOptions()
      .substream(col("device"))
      .substreamIdleTimeout(Duration.ofMinutes(15))
    val timed = Eventtide.withWatermark(events, "ts", policy, options)
    val counts = timed.groupBy(window(col("ts"), "1 minute"), col("device")).count()
    // end
    counts
  }
}
