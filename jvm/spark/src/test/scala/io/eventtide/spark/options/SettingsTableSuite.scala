package io.eventtide.spark.options

import org.scalatest.funsuite.AnyFunSuite

import io.eventtide.spark.EventtideException

class SettingsTableSuite extends AnyFunSuite {
  private val kinds = Map(
    "tumbling" -> Map("size" -> "PT10S"),
    "sliding" -> Map("size" -> "PT10S", "slide" -> "PT5S"),
    "cumulate" -> Map("size" -> "PT10S", "step" -> "PT5S"),
    "session" -> Map("gap" -> "PT10S"),
    "count" -> Map("rows" -> "10"),
    "storm" -> Map("length.time" -> "PT10S", "slide.rows" -> "3")
  )

  // An unknown option is refused with the names of all that were read.
  private def allowed(read: Map[String, String] => Any, options: Map[String, String]): Set[String] =
    intercept[EventtideException](read(options + ("none_such" -> "1"))).getMessageParameters
      .get("allowed")
      .split(", ")
      .toSet

  private def ofWindow(options: Map[String, String]) = WindowCodec.window(options, isLocal = false)

  kinds.foreach { case (kind, sizes) =>
    test(s"the table has the options that the codec reads for a window of kind $kind") {
      val all = sizes ++ Map("kind" -> kind, "triggers" -> "every,every_rows", "every" -> "PT1S") +
        ("every_rows" -> "3")
      val read = allowed(ofWindow, all) -- Set("kind", "every", "every_rows")
      assert(read == SettingsTable.window.filter(_.belongsTo(kind)).map(_.option).toSet)
    }
  }

  test("the table has the options that the codec reads for a watermark") {
    val guarded = Map(
      "policy" -> "with_fixed_lag",
      "lag" -> "PT1S",
      "decorators.0" -> "guard_future",
      "decorators.0.max_ahead" -> "PT1S"
    )
    val watermark = WatermarkOptionsCodec.watermark(_, SubstreamDescription.named("device"))
    val read = allowed(watermark, guarded).filterNot(_.startsWith("decorators"))
    assert(read -- Set("policy", "lag") == SettingsTable.watermark.map(_.option).toSet)
  }

  test("a choice of the table is a choice of the codec") {
    for {
      setting <- SettingsTable.window if setting.valueType == "choice"
      (kind, sizes) <- kinds if setting.belongsTo(kind)
      name = setting.option
    } {
      val own = sizes + ("kind" -> kind)
      val error = intercept[EventtideException](ofWindow(own + (name -> "none_such")))
      assert(error.getMessageParameters.get("allowed").split(", ").toSet == setting.choices.toSet)
    }
  }
}
