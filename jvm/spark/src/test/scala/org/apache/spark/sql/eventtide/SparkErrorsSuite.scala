package org.apache.spark.sql.eventtide

import org.apache.spark.SparkThrowableHelper
import org.scalatest.funsuite.AnyFunSuite

class SparkErrorsSuite extends AnyFunSuite {

  test("a condition gets a message, and Spark's own conditions stay as they are") {
    val before = SparkThrowableHelper.getMessageTemplate("DIVIDE_BY_ZERO")
    for (_ <- 1 to 2)
      SparkErrors.add(Map("TEST_ONLY" -> "No <thing>.", "DIVIDE_BY_ZERO" -> "Another text."))
    assert(
      SparkThrowableHelper.getMessage("TEST_ONLY", Map("thing" -> "sun")) == "[TEST_ONLY] No sun."
    )
    assert(SparkThrowableHelper.getMessageTemplate("DIVIDE_BY_ZERO") == before)
  }
}
