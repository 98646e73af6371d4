package io.eventtide.spark.options

import java.io.File

import scala.jdk.CollectionConverters._
import scala.util.{Failure, Success, Try}

import com.fasterxml.jackson.databind.ObjectMapper
import org.scalatest.funsuite.AnyFunSuite
import org.scalatest.tagobjects.Slow

import io.eventtide.spark.EventtideException

class DurationTextSuite extends AnyFunSuite {

  /** Compares each case of a list, which Python's tests read too, with what a text becomes. */
  private def border(list: String)(read: String => Seq[(String, String)]): Unit = {
    val path = new File(sys.props("eventtide.root"), "tests/border/durations.json")
    val cases = new ObjectMapper().readTree(path).get(list).elements.asScala.toSeq
    assert(cases.nonEmpty)
    cases.foreach { one =>
      val expected = one.properties.asScala.map(e => e.getKey -> e.getValue.asText).toMap
      val text = expected("text")
      val found = Try(read(text)) match {
        case Success(options) => options
        case Failure(error: EventtideException) if error.condition == "INVALID_DURATION" =>
          val parameters = error.getMessageParameters.asScala
          Seq("problem", "example").map(name => name -> parameters(name))
        case Failure(error) => throw error
      }
      assert(found.toMap + ("text" -> text) == expected)
    }
  }

  test("every duration of the border is read or refused as in Python") {
    border("durations")(text => Seq("option" -> DurationText.toIso("lag", text)))
  }

  test("a duration that must be positive is not zero") {
    border("positive")(text => Seq("option" -> DurationText.toIso("lag", text, isPositive = true)))
  }

  test("every size of the border is read or refused as in Python") {
    border("sizes") { text =>
      val size = SizeText.read("size", text)
      val zoned = Option.when(size.unit != SizeText.Micro)("zoned" -> size.toIso(isZoned = true))
      Seq("option" -> size.toIso(isZoned = false)) ++ zoned
    }
  }

  test("a giant text is refused with its beginning", Slow) {
    for (text <- Seq("1s " * 200000 + "!", "x" * 1000000, "1" * 1000000, "1s" * 1000000)) {
      val error = intercept[EventtideException](DurationText.micros("lag", text))
      assert(error.getMessage.length < 1000)
    }
  }

  test("null is no duration") {
    val text = SettingText.text(null: java.time.Duration)
    for (
      read <- Seq[() => Any](
        () => DurationText.micros("lag", null),
        () => SizeText.read("size", null),
        () => DurationText.micros("lag", text)
      )
    ) {
      val error = intercept[EventtideException](read())
      assert(error.getMessage.contains("is 'null', which cannot be read as a duration"))
    }
  }

  test("an error names the option, the value, what is allowed and an example") {
    val error = intercept[EventtideException](DurationText.micros("lag", "10 sekonds"))
    assert(
      error.getMessage.startsWith(
        "[INVALID_DURATION] Option 'lag' is '10 sekonds', which has the unknown unit 'sekonds'; " +
          "allowed is the units w, d, h, m, s, ms or us. Set it to a duration such as '10 seconds'."
      )
    )
  }
}
