package io.eventtide.spark

import org.scalatest.funsuite.AnyFunSuite

/** The API from Java: `JavaUser` compiles and runs. */
class JavaSuite extends AnyFunSuite with RocksSession {
  test("a Java program counts windows with the test kit") {
    JavaUser.countMinutes(spark)
  }

  test("a Java program names every kind of setting") {
    val rows = spark.readStream
      .format("rate")
      .load()
      .selectExpr("timestamp AS ts", "'eu-1' AS device", "'north' AS site")
    val columns = JavaUser.everything(rows).results.columns
    assert(columns.toSeq.startsWith(Seq("window", "device", "site", "n", "pane_index")))
  }
}
