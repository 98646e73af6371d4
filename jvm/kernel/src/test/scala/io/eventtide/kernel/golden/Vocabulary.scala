package io.eventtide.kernel.golden

import Form._

/** The words that a player knows. They are checked before the first step: a case with another word
  * waits as a whole, and no half of it is compared.
  *
  * @param config its settings
  * @param steps the arguments of each step
  * @param answer what a step may be expected to answer
  */
final case class Vocabulary(config: Fields, steps: Map[String, Fields], answer: Form) {

  /** Checks the settings, and the arguments of steps that stand in `args`. */
  def checkNested(golden: GoldenCase): Unit = {
    val step =
      fields("op" -> text, "args" -> remark, "expect" -> remark, "note" -> remark)
    checkCase(golden, fields())
    golden.steps.foreach { one =>
      step.check("step", one)
      checkStep(one("op").toString, one.getOrElse("args", Map.empty), one.get("expect"))
    }
  }

  /** Checks the settings, and the arguments of steps that stand beside `op`.
    *
    * @param more the words of the case and of each step that the script knows itself
    */
  def checkFlat(golden: GoldenCase, more: Fields, ofStep: Set[String]): Unit = {
    checkCase(golden, more)
    golden.steps.foreach { one =>
      fields("op" -> text).check("step", one.view.filterKeys(_ == "op").toMap)
      checkStep(one("op").toString, one -- ofStep - "op", None)
    }
  }

  private def checkCase(golden: GoldenCase, more: Fields): Unit = {
    (Vocabulary.OfEveryCase ++ more).check("case", golden.fields)
    config.check("config", golden.fields.getOrElse("config", Map.empty))
  }

  private def checkStep(op: String, args: Any, expect: Option[Any]): Unit = {
    steps.getOrElse(op, throw new GoldenWaiting(s"unknown step: $op")).check(op, args)
    expect.filter(_ != null).foreach {
      case map: Map[_, _] if GoldenFiles.fieldsOf(map).contains("error") =>
        fields("error" -> text).check(s"$op: expect", map)
      case value => answer.check(s"$op: expect", value)
    }
  }
}

object Vocabulary {
  def apply(config: Fields, answer: Form)(steps: (String, Fields)*): Vocabulary =
    Vocabulary(config, steps.toMap, answer)

  private val OfEveryCase: Fields = {
    val informative =
      Seq("subject", "source", "source_test", "provenance", "status", "title", "note")
    val ofField = Seq("notes", "origin", "tier", "family", "profile")
    fields(
      (informative ++ ofField).map(_ -> remark) ++ Seq(
        "id" -> name.optional,
        "config" -> remark,
        "steps" -> listOf(anyObject)
      ): _*
    )
  }
}
