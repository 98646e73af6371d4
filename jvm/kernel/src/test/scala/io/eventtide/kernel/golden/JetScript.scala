package io.eventtide.kernel.golden

/** Plays cases whose steps are `{op, args, expect}`. */
object JetScript {

  /** Builds the piece from the config, then compares every step; `construct` must be refused.
    *
    * @param words
    *   what the player knows; a case with anything else waits
    * @param form what is compared of an expected value and of an answer
    */
  def play(
      golden: GoldenCase,
      words: Vocabulary,
      build: GoldenArgs => GoldenPlayer,
      form: Any => Any = identity
  ): Unit = {
    words.copy(steps = words.steps + ("construct" -> Form.fields())).checkNested(golden)
    lazy val player = build(GoldenArgs(golden.config))
    golden.steps.zipWithIndex.foreach { case (step, at) =>
      val op = step("op").toString
      val args = GoldenArgs(GoldenFiles.fieldsOf(step.getOrElse("args", Map.empty)))
      compare(
        s"step $at, $op${args.values.mkString("(", ", ", ")")}",
        step.getOrElse("expect", null),
        form
      ) {
        if (op == "construct") build(GoldenArgs(golden.config)) else player.step(op, args)
      }
    }
  }

  private def compare(where: String, expect: Any, form: Any => Any)(
      answer: => Any
  ): Unit = expect match {
    case null => answer: Unit
    case fields: Map[_, _] => compareFields(where, GoldenFiles.fieldsOf(fields))(answer)
    case value => same(where, form(value), form(answer))
  }

  /** Only the keys that are expected are compared. */
  private def compareFields(where: String, expect: Map[String, Any])(answer: => Any): Unit =
    if (expect.contains("error")) refused(where)(answer)
    else
      answer match {
        case all: Map[_, _] =>
          val answered = GoldenFiles.fieldsOf(all)
          same(where, expect, answered.filter { case (key, _) => expect.contains(key) })
        case other => same(where, expect, other)
      }

  def refused(where: String)(answer: => Any): Unit = {
    val got =
      try Right(answer)
      catch { case refusal: IllegalArgumentException => Left(refusal.getMessage) }
    got match {
      case Right(value) => throw new GoldenMismatch(s"$where: not refused, but $value")
      case Left(message) =>
        if (message == null || message.isBlank) throw new GoldenMismatch(s"$where: no message")
    }
  }

  def same(where: String, expect: Any, answer: Any): Unit =
    if (expect != answer) throw new GoldenMismatch(s"$where: expected $expect, but was $answer")
}
