package io.eventtide.spark.options

import io.eventtide.kernel.watermark.{FutureGuard, ParamKind, ParamSpec, Policies, Throttles}

/** The options of policies and decorators whose parameters a user writes as text. */
private[spark] object PolicyText {

  /** The options of a policy, with its defaults. */
  def policy(name: String, values: Map[String, String]): Map[String, String] = {
    val params = Policies.find(name) match {
      case Some(kind) => kind.params
      case None =>
        val names = (Policies.builtIn ++ Policies.custom).map(_.name)
        OptionReader.unknown("policy", name, names.mkString(", "))
    }
    val known = params.flatMap { param =>
      val text = values.get(param.name).map(value(param, _))
      text.orElse(param.default.map(defaultText(param, _))).map(param.name -> _)
    }
    values ++ known + ("policy" -> name)
  }

  /** The options of a decorator, without its position. */
  def decorator(name: String, values: Map[String, String]): Map[String, String] =
    if (name == FutureGuard.name) guard(values)
    else {
      val params = Throttles.all.find(_.name == name).get.params
      values ++ params.flatMap(param => values.get(param.name).map(param.name -> step(param, _)))
    }

  private def defaultText(param: ParamSpec, value: Long): String =
    if (param.kind == ParamKind.Duration) DurationText.iso(value)
    else PolicyFormatter.text(param, value)

  private def value(param: ParamSpec, text: String): String = param.kind match {
    case ParamKind.Duration => DurationText.toIso(param.name, text, isPositive = param.least > 0)
    case ParamKind.Count =>
      val reader = new OptionReader(Map(param.name -> text))
      reader.count(param.name, param.least.toInt).get.toString
    case ParamKind.Share => ShareText.text(ShareText.millionths(param.name, text))
    case ParamKind.Choice(words) =>
      new OptionReader(Map(param.name -> text))
        .choice(param.name, words.map(word => word -> word))
        .get
  }

  // Spark's watermark is in whole milliseconds.
  private def step(param: ParamSpec, text: String): String =
    if (param.least == 0) value(param, text)
    else DurationText.iso(DurationText.frame(param.name, text))

  private def guard(values: Map[String, String]): Map[String, String] = {
    val modes = FutureGuard.modes.map(mode => mode.name -> mode.name)
    new OptionReader(values).choice("on", modes): Unit
    values + ("max_ahead" -> DurationText.toIso("max_ahead", values("max_ahead")))
  }
}
