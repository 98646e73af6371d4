package io.eventtide.spark.sql

import io.eventtide.spark.options.{OptionReader, Setting, SettingText}

/** Reads the settings of the table as options, by the types of their values. */
private[sql] final class SettingReader(call: FunctionCall) {
  private val values = new ArgumentReader(call.session)
  private val times = new TimeReader(call.session)

  /** The options of settings that the call has. */
  def options(settings: Seq[Setting]): Map[String, String] =
    settings.flatMap(setting => call.get(setting.option).toSeq.flatMap(read(setting, _))).toMap

  private def read(setting: Setting, argument: Argument): Seq[(String, String)] = {
    val name = setting.option
    setting.valueType match {
      case "duration" => Seq(name -> times.duration(argument, setting.least > 0))
      case "positive duration, or never" => Seq(name -> ttl(argument))
      case "size" => Seq(name -> times.size(argument, zone.isDefined))
      case "count" => Seq(name -> values.count(argument))
      case "flag" => Option.when(values.flag(argument))(name -> "true").toSeq
      case "instant" => Seq(name -> times.instant(argument, zone))
      case "count or names" => expected(argument)
      case "choice" => Seq(name -> choice(setting, argument))
      case "text" => Seq(name -> values.text(argument))
      case other => throw new IllegalStateException(s"$name has a type without a reader: $other")
    }
  }

  private def zone: Option[String] = call.get("time_zone").map { argument =>
    argument.located(SettingText.window("time_zone", values.text(argument)))
  }

  private def choice(setting: Setting, argument: Argument): String = {
    val text = values.text(argument)
    if (!setting.choices.contains(text))
      OptionReader.unknown(setting.option, text, setting.choices.mkString(", "))
    text
  }

  private def ttl(argument: Argument): String =
    if (values.isText(argument) && values.text(argument) == "never") "never"
    else times.duration(argument, isPositive = true)

  private def expected(argument: Argument): Seq[(String, String)] =
    if (values.isNumber(argument)) Seq("expected" -> values.count(argument))
    else {
      val names = values.texts(argument)
      if (names.isEmpty || names.distinct.length < names.length)
        OptionReader.unknown("expected", names.mkString(", "), "one name or more, each once")
      names.zipWithIndex.map { case (name, i) => s"expected.$i" -> name }
    }
}
