package io.eventtide.kernel.golden

import Form._

/** The words of VoltSP's cases, whose expectations stand in a list beside the steps. */
object VoltWords {

  def check(golden: GoldenCase): Unit = {
    words.checkFlat(
      golden,
      fields(
        "expect" -> expectations,
        "expect_alternative" -> fields(
          "late_events_count_in_min" -> expectations.optional
        ).optional,
        "published_effective" -> remark
      ),
      ofStep = Set.empty
    )
    val readings = golden.fields.get("expect_alternative").map(GoldenFiles.fieldsOf)
    (readings.toSeq.flatMap(_.values) :+ golden.fields("expect")).foreach(checkSteps(golden, _))
  }

  /** Each expectation is about a step that there is; one watermark is one of a single key. */
  private def checkSteps(golden: GoldenCase, expected: Any): Unit = {
    val keys = golden.steps
      .flatMap(_.getOrElse("events", Nil).asInstanceOf[List[Any]])
      .map(GoldenFiles.fieldsOf(_)("key"))
    expected.asInstanceOf[List[Any]].map(GoldenFiles.fieldsOf).foreach { expect =>
      if (!golden.steps.indices.map(_.toLong).contains(expect("step")))
        throw new GoldenWaiting(s"expect: no step ${expect("step")}")
      if (
        keys.distinct.length > 1 && (expect.contains("watermark") || expect.contains("effective"))
      )
        throw new GoldenWaiting("expect: one watermark of several keys")
    }
  }

  private val millis = number

  private val window = either(
    fields("type" -> oneOf("tumbling"), "span_ms" -> millis, "bounds" -> startIncluded),
    fields(
      "type" -> oneOf("sliding"),
      "span_ms" -> millis,
      "slide_ms" -> millis,
      "bounds" -> startIncluded
    ),
    fields(
      "type" -> oneOf("session"),
      "gap_ms" -> millis,
      "max_duration_ms" -> millis.optional,
      "bounds" -> oneOf("[first,last+gap)").optional
    ),
    fields("type" -> oneOf("tumbling_count"), "max_events" -> number, "bounds" -> remark)
  )

  private def startIncluded: Form = oneOf("[start,end)").optional

  private val times = fields(
    "time_source" -> oneOf("EVENT_TIME", "PROCESSING_TIME"),
    "watermark_strategy" -> oneOf("MIN_EVENT_TIME", "MAX_EVENT_TIME").optional,
    "delay_window_close_ms" -> millis.optional,
    "lateness_rule" -> oneOf("window_closed", "behind_watermark", "frame_closed").optional,
    "idle_timeout_ms" -> millis.optional,
    "idle_timeout_clock" -> oneOf("EVENT_TIME", "PROCESSING_TIME").optional
  )

  private val row = fields(
    "id" -> name,
    "key" -> text,
    "ts" -> number.optional,
    "arrival" -> number.optional
  )

  private val words: Vocabulary =
    Vocabulary(fields("window" -> window, "time_config" -> times), answer = remark)(
      "batch" -> fields("events" -> listOf(row)),
      "heartbeat" -> fields("now" -> number)
    )

  private val pane = fields(
    "key" -> text,
    "start" -> number,
    "end" -> number,
    "ids" -> listOf(name),
    "reason" -> oneOf("idle").optional
  )

  private val expectations = listOf(
    fields(
      "step" -> number,
      "watermark" -> number.orNull.optional,
      "effective" -> number.orNull.optional,
      "watermarks" -> anyObject.optional,
      "open" -> listOf(pane).optional,
      "emitted" -> listOf(pane).optional,
      "late" -> listOf(name).optional
    )
  )
}
