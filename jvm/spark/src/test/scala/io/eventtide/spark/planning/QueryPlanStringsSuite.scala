package io.eventtide.spark.planning

import org.apache.spark.sql.execution.SimpleMode
import org.scalatest.funsuite.AnyFunSuite

import io.eventtide.spark.{LocalSession, RateWindows}

/** What EXPLAIN and the Spark UI show of our nodes. */
final class QueryPlanStringsSuite extends AnyFunSuite with LocalSession {
  private lazy val results = RateWindows.counts(RateWindows.events(spark, rowsPerBatch = 20))

  private def lines(plan: String): Seq[String] =
    plan.linesIterator.map(_.dropWhile(!_.isLetter)).toSeq

  private def line(plan: String, node: String): String =
    lines(plan).find(_.startsWith(node)).getOrElse(fail(s"no $node in\n$plan"))

  test("a window says its kind, its keys and what becomes of late rows") {
    val physical = results.queryExecution.explainString(SimpleMode)
    assert(
      line(physical, "EventtideWindow") == "EventtideWindow tumbling(size=PT2S), late log, by k"
    )
    assert(line(physical, "LateRowFilter").startsWith("LateRowFilter ts#"))
    assert(line(physical, "PartialFrameAggregate").contains("count("))
    val logical = results.queryExecution.analyzed.treeString
    assert(line(logical, "EventtideWindow") == "EventtideWindow tumbling(size=PT2S), late log")
    assert(line(logical, "PolicyWatermark").startsWith("PolicyWatermark ts#"))
  }

  test("no node shows the classes of its settings") {
    val query = results.queryExecution
    val shown = query.analyzed.treeString + query.explainString(SimpleMode)
    Seq("WindowSettings(", "WindowOperatorSpec(", "WatermarkSettings(", "WindowKind").foreach {
      name =>
        assert(!shown.contains(name), shown)
    }
  }
}
