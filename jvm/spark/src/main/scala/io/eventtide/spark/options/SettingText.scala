package io.eventtide.spark.options

import java.time.{Duration, ZoneId}

import scala.util.Try

/** Checks a value that a user writes for one setting of `settings.json`, and returns its option. */
private[spark] object SettingText {

  /** The option of a setting of a watermark. */
  def watermark(option: String, text: String): String =
    checked(SettingsTable.watermark.find(_.option == option).get, text)

  /** The option of a setting of a window. */
  def window(option: String, text: String): String =
    checked(SettingsTable.window.find(_.option == option).get, text)

  /** A count of a setting of a window, such as a number of rows. */
  def rows(option: String, count: Int): String = {
    val reader = new OptionReader(Map(option -> count.toString))
    reader.count(option, 1): Unit
    count.toString
  }

  /** A length as the text that `DurationText` reads; ISO 8601 in Java has the sign inside. */
  def text(length: Duration): String = Option(length) match {
    case Some(negative) if negative.isNegative =>
      Try(s"-${negative.negated}").getOrElse(negative.toString) // the lowest has no opposite
    case other => String.valueOf(other.orNull) // a Java program may pass null
  }

  private def checked(setting: Setting, text: String): String = setting.valueType match {
    case "duration" => duration(setting, text)
    case "choice" =>
      val choices = setting.choices.map(choice => choice -> choice)
      new OptionReader(Map(setting.option -> text)).choice(setting.option, choices).get
    case "count" => rows(setting.option, text.toInt)
    case _ if setting.option == "time_zone" => zone(text)
    case _ if Option(text).forall(_.isEmpty) =>
      OptionReader.unknown(setting.option, text, "texts that are not empty")
    case _ => text
  }

  private def duration(setting: Setting, text: String): String = {
    val micros = DurationText.micros(setting.option, text, isPositive = setting.least > 0)
    if (micros < setting.least) {
      val least = Durations.inWords(setting.least)
      DurationText.refuse(setting.option, text, "is too short", s"$least or more", least)
    }
    DurationText.iso(micros)
  }

  private def zone(name: String): String =
    if (ZoneId.getAvailableZoneIds.contains(name)) name
    else OptionReader.unknown("time_zone", name, "names of time zones, such as 'Europe/Berlin'")
}
