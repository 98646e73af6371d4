package io.eventtide.spark

import org.apache.spark.sql.Row
import org.scalatest.funsuite.AnyFunSuite
import org.scalatest.tagobjects.Slow

import io.eventtide.spark.testkit.Script

/** The API from Java: `JavaUser` compiles and runs. */
class JavaSuite extends AnyFunSuite with RocksSession {
  test("a Java program counts windows with the test kit") {
    JavaUser.countMinutes(spark)
  }

  test("a Java program has Storm's and VoltSP's builders, and a function of a window", Slow) {
    val hourly = JavaUser.hourly(rows).results.columns.toSeq
    assert(hourly.startsWith(Seq("window", "device", "count")) && hourly.last == "trigger")
    val script = Script(spark, "ts timestamp, device string")(JavaUser.bolt(_).results)
    try {
      val times = Seq("01", "02", "03", "04").map(second => s"2024-01-01 00:00:$second")
      script.rows(times.map(Row(_, "a")): _*).rows(Row("2024-01-01 00:00:20", "a")).clock("+1s")
      script.expect(Row("a3"))
    } finally script.close()
  }

  private def rows = spark.readStream
    .format("rate")
    .load()
    .selectExpr("timestamp AS ts", "'eu-1' AS device", "'north' AS site")

  test("a Java program names every kind of setting") {
    val columns = JavaUser.everything(rows).results.columns
    assert(columns.toSeq.startsWith(Seq("window", "device", "site", "n", "pane_index")))
  }
}
