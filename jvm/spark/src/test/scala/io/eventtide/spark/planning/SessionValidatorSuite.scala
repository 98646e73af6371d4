package io.eventtide.spark.planning

import org.scalatest.funsuite.AnyFunSuite

import io.eventtide.spark.{BuildInfo, EventtideException}

class SessionValidatorSuite extends AnyFunSuite {

  test("another Spark is refused, with every minor that there is a jar for") {
    val refused = intercept[EventtideException](SessionValidator.rightSpark("5.0.1"))
    assert(refused.condition == "WRONG_SPARK_VERSION")
    assert(refused.getMessage.contains("Spark 5.0 is running"))
    assert(refused.getMessage.endsWith(s"supported are Spark ${BuildInfo.sparkMinors}."))
    assert(BuildInfo.sparkMinors.split(", ").toSeq.contains("4.1"))
    assert(BuildInfo.sparkMinors.split(", ").toSeq.contains(BuildInfo.sparkMinor))
  }
}
