package io.eventtide.spark.planning

import org.apache.spark.sql.{Dataset, SparkSession}
import org.scalatest.funsuite.AnyFunSuite

import io.eventtide.spark.{Eventtide, EventtideException, LocalSession}

class ClassicSessionSuite extends AnyFunSuite with LocalSession {

  test("what is of no classic session is refused by name") {
    val refused = Seq[() => Any](
      () => ClassicSession.of(null: SparkSession),
      () => Eventtide.explained(null: Dataset[java.lang.Long]),
      () => Eventtide.repartition(null, "/data/checkpoint", 4)
    )
    for (call <- refused)
      assert(intercept[EventtideException](call()).condition == "SESSION_NOT_CLASSIC")
    assert(ClassicSession.of(spark) eq spark)
    assert(ClassicSession.rows(spark.range(3)).columns.toSeq == Seq("id"))
  }
}
