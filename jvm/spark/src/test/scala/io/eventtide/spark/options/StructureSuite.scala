package io.eventtide.spark.options

import java.io.File

import scala.jdk.CollectionConverters._

import com.fasterxml.jackson.databind.ObjectMapper
import org.scalatest.funsuite.AnyFunSuite

class StructureSuite extends AnyFunSuite {
  private val sliding = Map("kind" -> "sliding", "size" -> "PT20S", "slide" -> "PT10S")
  private val monthly = Map("kind" -> "tumbling", "size" -> "P1M", "time_zone" -> "Europe/Berlin")
  private val session = Map("kind" -> "session", "gap" -> "PT5M")
  private val storm = Map("kind" -> "storm", "length.time" -> "PT20S", "slide.rows" -> "3")

  private def structure(options: Map[String, String]): Structure =
    WindowCodec
      .window(options, isLocal = false, options.get("triggers").exists(_.contains("when")))
      .structure

  // name, value in the first, value in the second
  private def differences(
      options: Map[String, String],
      changed: (String, String)*
  ): Seq[(String, String, String)] = structure(options).differences(structure(options ++ changed))

  test("sizes and rules have the names and values that users write") {
    assert(
      structure(sliding ++ Map("offset" -> "PT1.5S", "delay" -> "PT90S")).text ==
        "kind=sliding, size=20s, slide=10s, offset=1s 500ms, bounds=[start, end), " +
        "late_rule=window_closed, delay=1m 30s, results=one row a window"
    )
    assert(
      structure(monthly ++ Map("origin" -> "2024-01-02T05:00:00Z")).text.startsWith(
        "kind=tumbling, size=1 month, time_zone=Europe/Berlin, origin=2024-01-02, offset=6h, bounds"
      )
    )
    assert(
      structure(session ++ Map("maximum_duration" -> "PT1H")).text.startsWith(
        "kind=session, gap=5m, maximum_duration=1h, touching=separate, late_rule=window_closed"
      )
    )
    assert(
      structure(session + ("gap" -> "column")).text.startsWith("kind=session, gap=of each row")
    )
    assert(structure(storm).text.startsWith("kind=storm, length=20s, slide=3 rows, bounds="))
  }

  test("a change is one of the setting that was changed") {
    val paned = sliding + ("triggers" -> "at_window_end")
    assert(differences(sliding, "slide" -> "PT5S") == Seq(("slide", "10s", "5s")))
    assert(differences(sliding, "offset" -> "PT1S") == Seq(("offset", "none", "1s")))
    assert(
      differences(sliding, "origin" -> "2024-01-01T00:00:01Z") == Seq(("offset", "none", "1s"))
    )
    assert(differences(sliding, "delay" -> "PT1S") == Seq(("delay", "none", "1s")))
    assert(
      differences(sliding, "late_rule" -> "frame_closed") ==
        Seq(("late_rule", "window_closed", "frame_closed"))
    )
    assert(
      differences(paned, "late_updates" -> "true", "allowed_lateness" -> "PT1H") ==
        Seq(("allowed_lateness", "none", "1h"))
    )
    val early = paned + ("triggers" -> "on_update")
    assert(differences(early, "discarding" -> "true") == Seq(("discarding", "none", "true")))
    assert(
      differences(sliding, "triggers" -> "at_window_end") == Seq(
        ("results", "one row a window", "panes"),
        ("emit, key_idle_timeout or watermark_scope", "none", "given")
      )
    )
    assert(differences(monthly, "size" -> "P12M") == Seq(("size", "1 month", "12 months")))
    assert(differences(session, "gap" -> "column") == Seq(("gap", "5m", "of each row")))
    assert(differences(session, "touching" -> "merge") == Seq(("touching", "separate", "merge")))
    assert(differences(storm, "result" -> "rows") == Seq(("result", "none", "rows")))
    assert(
      differences(
        session ++ Map("triggers" -> "every,at_window_end", "every" -> "PT1S"),
        "triggers" -> "every"
      ) == Seq(("emit", "every, at_window_end", "every"))
    )
  }

  test("numbers of triggers and timeouts are none of it") {
    val timed = sliding ++ Map("triggers" -> "every", "every" -> "PT1S")
    assert(differences(timed, "every" -> "PT9S").isEmpty)
    assert(
      differences(
        session ++ Map("key_idle_timeout" -> "PT1S"),
        "key_idle_timeout" -> "PT2S"
      ).isEmpty
    )
  }

  test("no value of any window of the border is one of a program") {
    for (file <- Seq("window_options.json", "storm_options.json")) {
      val path = new File(sys.props("eventtide.root"), s"tests/border/$file")
      new ObjectMapper().readTree(path).elements.asScala.foreach { one =>
        val options = one.get("options").properties.asScala.map(e => e.getKey -> e.getValue.asText)
        val text = structure(options.toMap).text
        assert(!text.matches("(?s).*(PT|\\w\\(|\\d{8}).*"), text)
      }
    }
  }
}
