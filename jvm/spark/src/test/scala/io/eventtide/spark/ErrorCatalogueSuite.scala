package io.eventtide.spark

import scala.jdk.CollectionConverters._

import com.fasterxml.jackson.databind.ObjectMapper
import org.scalatest.funsuite.AnyFunSuite

class ErrorCatalogueSuite extends AnyFunSuite {
  private val entries = new ObjectMapper().readTree(getClass.getResourceAsStream("errors.json"))
  private val names = entries.fieldNames.asScala.toSeq

  test("errors stand in alphabetical order, each with a problem, a fix and a Python class") {
    assert(names == names.sorted && names.distinct == names)
    names.foreach { name =>
      assert(ErrorCatalogue.pythonClass(name).endsWith("Error"))
      for (part <- Seq("problem", "fix"))
        assert(entries.get(name).get(part).asText.matches(".*[.>]"), s"$name: $part")
    }
  }

  test("no condition has the name of one of Spark's, whose message PySpark would show") {
    val spark = getClass.getClassLoader.getResourceAsStream("error/error-conditions.json")
    val theirs = new ObjectMapper().readTree(spark).fieldNames.asScala.toSet
    assert(theirs.size > 500 && names.toSet.intersect(theirs).isEmpty)
  }

  test("a message carries its class and its parameters") {
    val error = EventtideException("UNKNOWN_COLUMN", "column" -> "tz", "available" -> "ts, user")
    assert(error.getMessage.startsWith("[UNKNOWN_COLUMN] There is no column 'tz'; "))
    assert(error.getMessage.contains("the stream has ts, user."))
    assert(error.getMessage.startsWith(s"[UNKNOWN_COLUMN] ${error.problem} ${error.fix}"))
    assert(error.pythonClass == "UnknownColumnError")
    assert(error.getCondition == "UNKNOWN_COLUMN" && error.getErrorClass == "UNKNOWN_COLUMN")
    assert(error.getMessageParameters.get("column") == "tz" && error.getSqlState == null)
  }

  test("what stands in a parameter is not replaced") {
    val error =
      EventtideException("UNKNOWN_COLUMN", "column" -> "<available>", "available" -> "$1, <column>")
    assert(error.getMessage.contains("no column '<available>'; "))
    assert(error.getMessage.contains("the stream has $1, <column>."))
  }

  test("a message ends with the address of its condition, where the docs have one") {
    def message(docs: String) =
      ErrorCatalogue.message("CHECKPOINT_DRAINED", Map("root" -> "/c"), docs)
    assert(message("").endsWith("with a new checkpoint location."))
    val address = "https://docs.test/reference/errors/#checkpoint_drained"
    for (docs <- Seq("https://docs.test", "https://docs.test/"))
      assert(message(docs) == s"${message("")} See $address")
    val thrown = EventtideException("CHECKPOINT_DRAINED", "root" -> "/c")
    assert(thrown.getMessage == message(BuildInfo.docs))
  }
}
