package io.eventtide.spark.query.state

import org.scalatest.funsuite.AnyFunSuite

import io.eventtide.spark.{Eventtide, EventtideException, LocalSession}

class StateRepartitionSuite extends AnyFunSuite with LocalSession {

  test("a number below one is refused before anything is read: it would leave no state") {
    for (number <- Seq(0, -1)) {
      val call = () => Eventtide.repartition(spark, "/nowhere/checkpoint", number)
      val error = intercept[EventtideException](call())
      assert(error.condition == "INVALID_COUNT" && error.getMessage.contains(s"'$number'"))
    }
  }
}
