package io.eventtide.spark.options

import java.io.File
import java.time.{LocalDateTime, Period, ZoneId, ZoneOffset}

import scala.jdk.CollectionConverters._

import com.fasterxml.jackson.databind.ObjectMapper
import org.scalatest.Assertion
import org.scalatest.funsuite.AnyFunSuite

import io.eventtide.kernel.time.{CalendarGrid, Frame}
import io.eventtide.kernel.watermark.WithFixedLag
import io.eventtide.kernel.window.{Cumulative, LateRule, Sliding, Trigger}
import io.eventtide.spark.EventtideException

class WindowCodecSuite extends AnyFunSuite {
  private val berlin = ZoneId.of("Europe/Berlin")
  private val epoch = LocalDateTime.of(1970, 1, 1, 0, 0)
  private val tumbling = Map("kind" -> "tumbling", "size" -> "PT10S")

  private def read(options: (String, String)*): WindowSettings =
    WindowCodec.window(options.toMap, isLocal = false)

  private def refused(options: Map[String, String]): EventtideException =
    intercept[EventtideException](WindowCodec.window(options, isLocal = false))

  /** Checks the options of each case of a file that Python writes. */
  private def border(file: String)(check: Map[String, String] => Assertion): Unit = {
    val path = new File(sys.props("eventtide.root"), s"tests/border/$file")
    val cases = new ObjectMapper().readTree(path).elements.asScala.toSeq
    assert(cases.nonEmpty)
    cases.foreach { one =>
      val options =
        one.get("options").properties.asScala.map(e => e.getKey -> e.getValue.asText).toMap
      withClue(one.get("written").asText)(check(options))
    }
  }

  test("every case of the border file is read, and says its sizes") {
    border("window_options.json") { options =>
      val hasCondition = options.get("triggers").exists(_.contains("when"))
      val settings = WindowCodec.window(options, isLocal = false, hasCondition)
      assert(settings.kind == options("kind"))
      val length = Map("session" -> "gap", "count" -> "rows").getOrElse(settings.kind, "size")
      assert(settings.sizes.startsWith(s"$length=${options(length)}"))
    }
  }

  test("every bolt of the border file is read") {
    border("storm_options.json") { options =>
      val settings = WindowCodec.window(options, isLocal = false)
      assert(settings.emitsRows == options.contains("result"))
      assert(settings.retainingRows.isDefined == (options("kind") == "storm"))
      assert(withOptionsOf(settings, settings) == settings)
    }
  }

  test("Storm's windows have a length and a slide, each in one unit, and nothing else") {
    val bolt = Map("kind" -> "storm", "length.time" -> "PT20S", "slide.rows" -> "3")
    val wrong = Seq(
      bolt - "length.time" -> "length.time",
      bolt - "slide.rows" -> "slide.time",
      bolt + ("length.rows" -> "3") -> "length.rows",
      bolt + ("slide.rows" -> "0") -> "slide.rows",
      bolt + ("length.time" -> "PT0S") -> "length.time",
      bolt + ("rows_in_memory" -> "0") -> "rows_in_memory",
      bolt + ("result" -> "both") -> "result",
      bolt + ("profile" -> "jet") -> "profile",
      bolt + ("triggers" -> "on_update") -> "trigger of Storm's windows",
      bolt + ("key_idle_timeout" -> "PT1S") -> "idle timeout of Storm's windows"
    )
    wrong.foreach { case (options, named) =>
      assert(refused(options).getMessage.contains(named), options)
    }
  }

  test("what another run may choose can be written down and taken up again, for any policy") {
    val file = new File(sys.props("eventtide.root"), "tests/border/options.json")
    val policies = new ObjectMapper()
      .readTree(file)
      .elements
      .asScala
      .map { one =>
        val options =
          one.get("options").properties.asScala.map(e => e.getKey -> e.getValue.asText).toMap
        WatermarkOptionsCodec.policy(new OptionReader(options), "")
      }
      .filterNot { spec =>
        spec.needsDeclaredSubstreams || spec.isBySubstream || spec.onlyOnDriver.nonEmpty
      }
      .toSet
    assert(policies.size > 10)
    val others = Seq(
      Map("scope" -> "key", "max_rows_per_batch" -> "1"),
      Map("scope" -> "key", "key_idle_timeout" -> "PT5M", "key_ttl" -> "PT1H"),
      Map("scope" -> "group", "key_idle_timeout" -> "PT0.5S", "key_idle_clock" -> "event_time"),
      Map("scope" -> "global", "key_idle_timeout" -> "PT5M", "heartbeat" -> "PT0.1S"),
      Map("scope" -> "global"),
      Map("triggers" -> "every,every_rows", "every" -> "PT2S", "every_rows" -> "7"),
      Map("scope" -> "key", "every" -> "PT3S", "triggers" -> "every,on_update")
    )
    for (policy <- policies; options <- others) {
      val settings = WindowCodec.window(tumbling ++ options, isLocal = false, policy = Some(policy))
      val early = options.keySet.filter(_ == "every").map(_ -> "PT9S").toMap
      for (other <- Seq(early + ("key_idle_timeout" -> "PT3S"), early + ("scope" -> "key"))) {
        val byOther = WindowCodec.window(
          tumbling ++ options ++ other ++ options.get("every_rows").map(_ => "every_rows" -> "9"),
          isLocal = false,
          policy = Some(WithFixedLag(7))
        )
        assert(MutableOptionsCodec.write(byOther) != MutableOptionsCodec.write(settings))
        assert(unhurried(withOptionsOf(settings, byOther)) == unhurried(settings))
      }
    }
  }

  test("the values of triggers are as the batch was begun") {
    for (scope <- Seq(Nil, Seq("scope" -> "key"))) {
      def window(more: (String, String)*) = WindowCodec.window(
        tumbling ++ scope ++ more + ("triggers" -> "at_window_end,every_rows"),
        isLocal = false,
        policy = Some(WithFixedLag(7))
      )
      val (one, other) = (window("every_rows" -> "7"), window("every_rows" -> "5"))
      assert(withOptionsOf(one, other) == one)
      assert(withOptionsOf(other, one) == other)
    }
  }

  /** `current` with the mutable options of `written`. */
  private def withOptionsOf(written: WindowSettings, current: WindowSettings): WindowSettings =
    MutableOptionsCodec.read(MutableOptionsCodec.write(written), current)

  private def unhurried(settings: WindowSettings): WindowSettings =
    settings.copy(byKey = settings.byKey.map(_.copy(heartbeatMicros = 0)))

  test("fixed sizes become frames") {
    val sliding = read("kind" -> "sliding", "size" -> "PT60S", "slide" -> "PT1S").spec
    assert(sliding.grid == Frame(1000000) && sliding.shape == Sliding(60))
    val moved =
      read("kind" -> "cumulate", "size" -> "PT60S", "step" -> "PT10S", "offset" -> "PT25S")
    assert(moved.spec.grid == Frame(10000000, 5000000))
    assert(moved.spec.shape == Cumulative(6, phase = 2))
    val early = read("kind" -> "tumbling", "size" -> "PT10S", "origin" -> "1969-12-31T23:59:57Z")
    assert(early.spec.grid == Frame(10000000, 7000000))
  }

  test("days and months of a time zone become frames of its calendar") {
    val zone = "time_zone" -> "Europe/Berlin"
    val week = read("kind" -> "sliding", "size" -> "P7D", "slide" -> "P1D", zone).spec
    assert(week.grid == CalendarGrid(Period.ofDays(1), berlin, epoch))
    assert(week.shape == Sliding(7))
    val soFar = read("kind" -> "cumulate", "size" -> "P12M", "step" -> "P1M", zone).spec
    assert(soFar.grid == CalendarGrid(Period.ofMonths(1), berlin, epoch))
    assert(soFar.shape == Cumulative(12))
    val fiscal =
      read("kind" -> "tumbling", "size" -> "P1Y", zone, "origin" -> "2024-03-31T22:00:00Z")
    val april = LocalDateTime.of(2024, 4, 1, 0, 0)
    assert(fiscal.spec.grid == CalendarGrid(Period.ofYears(1), berlin, april))
  }

  test("an offset moves days and months by the clock") {
    val zone = "time_zone" -> "Europe/Berlin"
    val shifts = read("kind" -> "tumbling", "size" -> "P1D", zone, "offset" -> "PT6H").spec.grid
    assert(shifts == CalendarGrid(Period.ofDays(1), berlin, epoch.withHour(6)))
    val months = read("kind" -> "tumbling", "size" -> "P1M", zone, "offset" -> "PT216H").spec.grid
    assert(months == CalendarGrid(Period.ofMonths(1), berlin, epoch.withDayOfMonth(10)))
  }

  test("event times without a zone have days of their own clock") {
    val options = Map(
      "kind" -> "tumbling",
      "size" -> "P1D",
      "time_zone" -> "Europe/Berlin",
      "origin" -> "2024-01-01T05:00:00Z"
    )
    val six = LocalDateTime.of(2024, 1, 1, 6, 0) // in Berlin
    val grid = WindowCodec.window(options, isLocal = true).spec.grid
    assert(grid == CalendarGrid(Period.ofDays(1), ZoneOffset.UTC, six))
  }

  test("rules and late rows are those of the profile, or what was set alone") {
    val jet = WindowCodec.window(tumbling + ("profile" -> "jet"), isLocal = false)
    assert(jet.spec.profile.lateRule == LateRule.FrameClosed)
    assert(jet.late == LateSettings(LateMode.Log, None))
    val own = tumbling ++ Map(
      "late_rule" -> "behind_watermark",
      "delay" -> "PT5S",
      "allowed_lateness" -> "PT1S",
      "late" -> "count"
    )
    val settings = WindowCodec.window(own, isLocal = false)
    assert(settings.spec.profile.lateRule == LateRule.BehindWatermark)
    assert(settings.spec.delay == 6000000 && settings.late.mode == LateMode.Count)
  }

  test("sizes that do not fit are refused with those that do") {
    val fixed = refused(Map("kind" -> "sliding", "size" -> "PT10S", "slide" -> "PT3S"))
    assert(fixed.condition == "WINDOW_NOT_MULTIPLE" && fixed.getMessage.contains("PT9S or PT12S"))
    val days = Map("kind" -> "sliding", "size" -> "P7D", "slide" -> "P2D", "time_zone" -> "UTC")
    assert(refused(days).getMessage.contains("P6D or P8D"))
    val months = days ++ Map("size" -> "P1Y", "slide" -> "P5M")
    assert(refused(months).getMessage.contains("P10M or P15M"))
    val mixed = refused(days + ("slide" -> "P1M"))
    assert(mixed.condition == "INVALID_WINDOW" && mixed.getMessage.contains("in the same unit"))
    val many = refused(Map("kind" -> "sliding", "size" -> "PT9000S", "slide" -> "PT0.001S"))
    assert(many.condition == "INVALID_WINDOW" && many.getMessage.contains("at most 1000000"))
  }

  test("in a time zone, sizes are whole days or whole months above zero") {
    for (text <- Seq("PT24H", "P1M1D", "P0D", "-P1D", "P1000000000Y", "1 day")) {
      val error = refused(Map("kind" -> "tumbling", "size" -> text, "time_zone" -> "UTC"))
      assert(error.condition == "INVALID_CHOICE" && error.getMessage.contains(s"'$text'"))
    }
    assert(refused(tumbling + ("size" -> "P1M")).condition == "INVALID_DURATION")
  }

  test("a session has one gap, or a gap for each row, which is a column beside the options") {
    val each = read("kind" -> "session", "gap" -> "column", "maximum_duration" -> "PT1H")
    assert(each.hasRowGaps && each.sizes == "gap=column, maximum_duration=PT1H")
    assert(each.times.highest == EventTimes.All.highest)
    val one = read("kind" -> "session", "gap" -> "PT5M")
    assert(!one.hasRowGaps && one.times.highest == EventTimes.All.highest - 300000000L)
    for (gap <- Seq("5m", "PT0S", "Column"))
      assert(refused(Map("kind" -> "session", "gap" -> gap)).condition == "INVALID_DURATION")
    assert(refused(Map("kind" -> "session")).getMessage.contains("'gap'"))
  }

  test("an unknown time zone and an origin that is none are refused") {
    assert(refused(tumbling + ("time_zone" -> "Berlin")).getMessage.contains("'Europe/Berlin'"))
    assert(refused(tumbling + ("origin" -> "2024-01-01")).getMessage.contains("instants"))
  }

  test("an offset is below what windows repeat after, by the shortest day or month") {
    assert(refused(tumbling + ("offset" -> "PT10S")).getMessage.contains("below PT10S"))
    val month = Map("kind" -> "tumbling", "size" -> "P1M", "time_zone" -> "UTC")
    assert(refused(month + ("offset" -> "PT672H")).getMessage.contains("below PT672H"))
  }

  test("what is missing or unknown is named") {
    assert(refused(Map("kind" -> "sliding", "size" -> "PT1S")).getMessage.contains("'slide'"))
    assert(refused(Map("kind" -> "tumbling")).getMessage.contains("'size'"))
    assert(refused(tumbling + ("slide" -> "PT1S")).condition == "UNKNOWN_OPTION")
    assert(refused(tumbling + ("kind" -> "hopping")).getMessage.contains("tumbling, sliding"))
  }

  test("results by triggers have a lateness only if they are updated") {
    assert(read(tumbling.toSeq: _*).emit.isEmpty)
    val late = tumbling + ("allowed_lateness" -> "PT1H") + ("delay" -> "PT5S")
    val once = read(late.toSeq: _*)
    assert(once.emit.isEmpty && once.onTime.delay == 3605000000L)
    val atEnd = late + ("triggers" -> "at_window_end")
    assert(read(atEnd.toSeq: _*).onTime.delay == 3605000000L)
    val again = read((atEnd + ("late_updates" -> "true")).toSeq: _*)
    val end = Seq(NamedTrigger("at_window_end", Trigger.AtEnd))
    assert(again.emit.contains(EmitSettings(end, 3600000000L, discards = false)))
    assert(again.onTime.delay == 5000000L && again.spec.delay == 3605000000L)
    val early = read((tumbling + ("triggers" -> "every") + ("every" -> "PT10S")).toSeq: _*)
    val every = Seq(NamedTrigger("every", Trigger(every = Some(10000000L))))
    assert(early.emit.contains(EmitSettings(every, 0, discards = false)))
    assert(early.hasProcessingTimers && !again.hasProcessingTimers)
  }

  test("what belongs to triggers is refused without them, and their values are required") {
    assert(refused(tumbling + ("every" -> "PT1S")).condition == "UNKNOWN_OPTION")
    // Without a trigger, a window emits at its end.
    for (option <- Seq("discarding", "late_updates")) {
      val error = refused(tumbling + (option -> "true"))
      assert(error.condition == "SETTING_CONFLICT")
      assert(error.getMessageParameters.get("option") == option)
    }
    for (trigger <- Seq("every", "every_rows", "when"))
      assert(refused(tumbling + ("triggers" -> trigger)).condition == "MISSING_OPTION")
  }

  test("a condition of a trigger does not go with discarding") {
    val options = tumbling ++ Map("triggers" -> "when", "discarding" -> "true")
    val error = intercept[EventtideException] {
      WindowCodec.window(options, isLocal = false, hasCondition = true)
    }
    assert(error.condition == "CONDITION_WITH_DISCARDING")
  }
}
