package io.eventtide.spark.options

import java.io.File

import scala.jdk.CollectionConverters._

import com.fasterxml.jackson.databind.{JsonNode, ObjectMapper}
import org.scalatest.funsuite.AnyFunSuite

import io.eventtide.kernel.watermark.{
  FutureGuard,
  LimitingLagAndLull,
  MinOf,
  ThrottleByFrame,
  WithFixedLag
}
import io.eventtide.spark.EventtideException

class WatermarkOptionsCodecSuite extends AnyFunSuite {
  private val fixedLag = Map("policy" -> "with_fixed_lag", "lag" -> "PT5S")

  private def read(options: Map[String, String]): WatermarkSettings =
    WatermarkOptionsCodec.watermark(options, SubstreamDescription.named("device"))

  private def refused(options: Map[String, String]): EventtideException =
    intercept[EventtideException](read(options))

  private def border(name: String): Seq[JsonNode] = {
    val cases =
      new ObjectMapper().readTree(new File(sys.props("eventtide.root"), s"tests/border/$name"))
    assert(!cases.isEmpty)
    cases.elements.asScala.toSeq
  }

  private def mapOf(node: JsonNode): Map[String, String] =
    node.properties.asScala.map(field => field.getKey -> field.getValue.asText).toMap

  test("a watermark is saved as the border says, and read again") {
    border("watermark_options.json").foreach { one =>
      withClue(one.get("written").asText) {
        val settings = read(mapOf(one.get("options")))
        val saved = WatermarkSettingsJson.write(settings)
        assert(mapOf(new ObjectMapper().readTree(saved).get("options")) == mapOf(one.get("saved")))
        assert(WatermarkSettingsJson.read(saved) == settings)
      }
    }
  }

  test("every case of the border files is read") {
    border("options.json").foreach { one =>
      val declared = Map("expected.0" -> "s1", "expected.1" -> "s2")
      withClue(one.get("written").asText) {
        val settings = read(mapOf(one.get("options")) ++ declared)
        assert(settings.policy.name == one.get("options").get("policy").asText)
        assert(WatermarkSettingsJson.read(WatermarkSettingsJson.write(settings)) == settings)
      }
    }
  }

  test("a policy and its durations become microseconds") {
    val settings =
      read(Map("policy" -> "limiting_lag_and_lull", "lag" -> "PT5S", "max_lull" -> "PT0.25S"))
    assert(settings.policy == LimitingLagAndLull(5000000L, 250000L))
  }

  test("policies inside an algebra are numbered") {
    val settings = read(
      Map(
        "policy" -> "min_of",
        "of.0.policy" -> "with_fixed_lag",
        "of.0.lag" -> "PT1S",
        "of.1.policy" -> "with_fixed_lag",
        "of.1.lag" -> "PT2S"
      )
    )
    assert(settings.policy == MinOf(Seq(WithFixedLag(1000000L), WithFixedLag(2000000L))))
  }

  test("decorators keep their order, and the guard is taken apart from the throttles") {
    val settings = read(
      fixedLag ++ Map(
        "decorators.0" -> "guard_future",
        "decorators.0.max_ahead" -> "PT1H",
        "decorators.0.on" -> "late",
        "decorators.1" -> "throttle_by_frame",
        "decorators.1.size" -> "PT1S",
        "decorators.1.offset" -> "PT0S"
      )
    )
    assert(settings.guard.contains(FutureGuard(3600000000L, FutureGuard.Late)))
    assert(settings.throttles == Seq(ThrottleByFrame(1000000L, 0L)))
  }

  test("what is not given has its default") {
    val settings = read(fixedLag)
    assert(settings.idleTimeoutMicros.isEmpty && settings.expected.isEmpty)
    assert(settings.maxSubstreams == 100000 && settings.holdsOnRestart && !settings.isThrottled)
  }

  test("substreams are expected by number or by name") {
    assert(read(fixedLag + ("expected" -> "3")).expectedCount.contains(3))
    val named = read(fixedLag ++ Map("expected.0" -> "north", "expected.1" -> "south"))
    assert(named.expected == Seq("north", "south"))
  }

  test("a missing policy, parameter or child says which") {
    assert(refused(Map.empty).condition == "MISSING_OPTION")
    assert(refused(Map("policy" -> "with_fixed_lag")).getMessage.contains("'lag'"))
    assert(refused(Map("policy" -> "max_of")).getMessage.contains("'of.0.policy'"))
  }

  test("an unknown policy, decorator or option names what is allowed") {
    assert(refused(Map("policy" -> "with_lag")).getMessage.contains("with_fixed_lag"))
    assert(refused(fixedLag + ("decorators.0" -> "slow")).getMessage.contains("throttle_by_frame"))
    val unknown = refused(fixedLag + ("lull" -> "PT1S"))
    assert(unknown.condition == "UNKNOWN_OPTION" && unknown.getMessage.contains("'lull'"))
  }

  test("a duration that is no duration, negative or too small is refused with its value") {
    Seq("5s", "5", "-PT1S", "PT0.0000001S", "").foreach { text =>
      val error = refused(fixedLag + ("lag" -> text))
      assert(error.condition == "INVALID_DURATION" && error.getMessage.contains(s"'$text'"))
    }
    val frame = Map("decorators.0" -> "throttle_by_frame", "decorators.0.size" -> "PT0.0005S")
    assert(refused(fixedLag ++ frame).getMessage.contains("one millisecond"))
    assert(refused(fixedLag + ("substream_idle_timeout" -> "PT0S")).getMessage.contains("positive"))
  }

  test("a count that is no count is refused") {
    Seq("0", "-1", "many").foreach { text =>
      assert(refused(fixedLag + ("max_substreams" -> text)).condition == "INVALID_COUNT")
    }
  }

  test("what the kernel refuses is an error of the catalogue") {
    val slots =
      Map("policy" -> "limiting_lag_and_delay", "lag" -> "PT0S", "max_delay" -> "PT0.000004S")
    assert(refused(slots).condition == "INVALID_ARGUMENT")
    val timer = Seq("0", "1").flatMap { i =>
      Seq(s"decorators.$i" -> "emit_every", s"decorators.$i.interval" -> "PT1S")
    }
    assert(refused(fixedLag ++ timer).condition == "INVALID_ARGUMENT")
  }

  test("Storm's policy needs its streams declared") {
    val storm = Map("policy" -> "storm", "lag" -> "PT5S")
    assert(refused(storm).condition == "UNDECLARED_SUBSTREAMS")
    assert(read(storm + ("expected.0" -> "orders")).expected == Seq("orders"))
  }

  test("the structure names kinds and substream, not parameters") {
    assert(read(fixedLag).structure == read(fixedLag + ("lag" -> "PT9S")).structure)
    val other = WatermarkOptionsCodec.watermark(fixedLag, SubstreamDescription.named("region"))
    assert(
      read(fixedLag).structure.differences(other.structure) == Seq(
        ("substream", "device", "region")
      )
    )
  }
}
