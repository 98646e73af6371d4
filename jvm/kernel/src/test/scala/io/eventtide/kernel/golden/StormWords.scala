package io.eventtide.kernel.golden

import Form._

/** The words of Storm's cases, of which there are three kinds: steps, properties and refusals. */
object StormWords {

  def check(golden: GoldenCase): Unit = {
    anyObject.check("expect", golden.fields.getOrElse("expect", null))
    val expect = GoldenFiles.fieldsOf(golden.fields("expect"))
    val kinds = Seq("error" -> refusals, "property" -> properties)
    val (words, expected) = kinds
      .collectFirst { case (kind, words) if expect.contains(kind) => words -> fields(kind -> text) }
      .getOrElse(ofSteps -> outcome)
    val documented = fields("expect" -> expected, "expect_documented" -> outcome.optional)
    words.checkFlat(golden, documented, ofStep = Set.empty)
  }

  private val extent = either(fields("ms" -> number), fields("count" -> number))

  private val ofSteps = Vocabulary(
    fields(
      "length" -> extent,
      "slide" -> extent,
      "lag_ms" -> number,
      "streams" -> listOf(text),
      "time" -> oneOf("event").optional,
      "bounds" -> oneOf("(start,end]").optional,
      "scan_lag_ms" -> remark
    ),
    answer = remark
  )(
    "event" -> fields("id" -> name, "stream" -> text, "ts" -> number),
    "add" -> fields("id" -> name, "ts" -> number),
    "watermark" -> fields("ts" -> number),
    "tick" -> fields()
  )

  private val properties = Vocabulary(
    fields(
      "length_slide_seconds" -> listOf(listOf(number)).optional,
      "length_slide_counts" -> listOf(listOf(number)).optional,
      "lag_ms" -> number.optional
    ),
    answer = remark
  )()

  // A configuration that is for the builder is named in a text of its own.
  private val refusals = Vocabulary(
    fields(
      "length_or_slide" -> listOf(number).optional,
      "timestamp" -> remark,
      "late_stream" -> remark
    ),
    answer = remark
  )()

  private val ids = listOf(name)

  private val outcome = fields(
    "watermarks" -> listOf(fields("step" -> number, "value" -> number.orNull)).optional,
    "windows" -> listOf(
      fields(
        "step" -> number,
        "start" -> number.orNull,
        "end" -> number,
        "ids" -> ids,
        "new" -> remark,
        "expired" -> remark
      )
    ).optional,
    "late" -> listOf(fields("step" -> number, "id" -> name)).optional,
    "pending" -> ids.optional,
    "in_no_window" -> ids.optional
  )
}
