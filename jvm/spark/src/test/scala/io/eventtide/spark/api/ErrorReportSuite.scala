package io.eventtide.spark.api

import com.fasterxml.jackson.databind.{JsonNode, ObjectMapper}
import org.scalatest.funsuite.AnyFunSuite

import io.eventtide.spark.EventtideException

final class ErrorReportSuite extends AnyFunSuite {
  private val drained = EventtideException("CHECKPOINT_DRAINED", "root" -> "/data/checkpoint")

  private def read(report: Option[String]): JsonNode = new ObjectMapper().readTree(report.get)

  test("a report has the parts of the error") {
    val report = read(ErrorReport.of(drained))
    assert(report.get("class").asText == "CheckpointError")
    assert(report.get("condition").asText == "CHECKPOINT_DRAINED")
    assert(report.get("message").asText == drained.getMessage)
    assert(report.get("problem").asText == drained.problem)
    assert(report.get("fix").asText == drained.fix)
    assert(report.get("parameters").get("root").asText == "/data/checkpoint")
  }

  test("an error is found among the causes, and beside them") {
    val conflict = new IllegalStateException("Spark's error")
    conflict.addSuppressed(new java.io.IOException("another"))
    conflict.addSuppressed(drained)
    Seq(new RuntimeException(drained), new RuntimeException(conflict)).foreach { failure =>
      assert(read(ErrorReport.of(failure)).get("condition").asText == "CHECKPOINT_DRAINED")
    }
  }

  test("another error has no report") {
    assert(ErrorReport.of(new RuntimeException(new NullPointerException)).isEmpty)
  }

  test("a client asks by condition and parameters") {
    val report = read(ErrorReport.of("CHECKPOINT_DRAINED", Map("root" -> "/data/checkpoint")))
    assert(report.get("message").asText == drained.getMessage)
    assert(ErrorReport.of("TABLE_OR_VIEW_NOT_FOUND", Map.empty).isEmpty)
  }
}
