package io.eventtide.kernel.golden

/** Plays cases whose steps are `{op, args, expect}`. */
object JetScript {

  /** Builds the piece from the config, then compares every step; `construct` must be refused.
    *
    * @param form what is compared of an expected value and of an answer
    */
  def play(
      golden: GoldenCase,
      build: GoldenArgs => GoldenPlayer,
      form: Any => Any = identity
  ): Unit = {
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
    case fields: Map[_, _] if fields.asInstanceOf[Map[String, Any]].contains("error") =>
      refused(where)(answer)
    case fields: Map[_, _] =>
      val answered = GoldenFiles.fieldsOf(answer)
      same(
        where,
        fields,
        answered.filter { case (key, _) => fields.asInstanceOf[Map[String, Any]].contains(key) }
      )
    case value => same(where, form(value), form(answer))
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
