package io.eventtide.spark

import scala.util.Try

import org.apache.spark.sql.functions.{count, lit}
import org.apache.spark.sql.{Column, DataFrame}
import org.scalatest.funsuite.AnyFunSuite

/** The combinations that Python refuses, as options of any API: the JVM refuses them as well. */
class WindowRefusalsSuite extends AnyFunSuite with LocalSession {
  private lazy val rows: DataFrame = spark.readStream
    .format("rate")
    .load()
    .selectExpr("timestamp AS ts", "CAST(value AS STRING) AS device")

  test("every combination of the border is refused, and the error names one of its settings") {
    val faults = BorderFiles.cases("window_refusals.json").flatMap { one =>
      val written = one.get("written").asText
      val byClock = one.has("processing_time")
      val columns = if (one.has("aggregates")) Nil else Seq(count(lit(1)).as("n"))
      val named = one.get("option").asText
      Try(requested(BorderFiles.texts(one.get("options")), columns, byClock)).toEither match {
        case Left(error: EventtideException) if error.getMessage.contains(named) => None
        case Left(error) => Some(s"$written: $error")
        case Right(_) => Some(s"$written: not refused")
      }
    }
    assert(faults.mkString("\n") == "")
  }

  private def requested(
      options: Map[String, String],
      aggregates: Seq[Column],
      byClock: Boolean
  ): DataFrame = {
    val keys = if (options.contains("scope")) Seq(rows("device")) else Nil
    if (byClock) {
      val timed = Eventtide.withIngestionTime(rows, "_processing_time")
      RequestedWindow(timed, "_processing_time", Map.empty, keys, aggregates, options)
    } else {
      val watermark = Map("policy" -> "with_fixed_lag", "lag" -> "PT5S")
      RequestedWindow(rows, "ts", watermark, keys, aggregates, options)
    }
  }
}
