package io.eventtide.spark.options

import java.time.Duration
import java.util.concurrent.TimeUnit

import scala.util.Try

import org.apache.spark.network.util.JavaUtils

import io.eventtide.spark.EventtideException

/** The defaults of a session: if an option is not set, `spark.eventtide.<setting>` applies.
  *
  * `session` has the settings of the session, including Spark's settings.
  */
private[spark] object SessionDefaults {

  /** The options of a watermark, completed by the session's defaults. */
  def watermark(
      options: Map[String, String],
      session: Map[String, String]
  ): Map[String, String] =
    filled(SettingsTable.watermark, options, session)

  /** The options of a window, completed by the session's defaults for its kind.
    *
    * @param byClock
    *   whether the time of rows is the time of their batch, so that no row is late
    */
  def window(
      options: Map[String, String],
      session: Map[String, String],
      byClock: Boolean
  ): Map[String, String] = {
    val kind = options.getOrElse("kind", "")
    val settings = SettingsTable.window.filter(_.belongsTo(kind))
    def hasOwn(option: String) =
      byClock && OfLateRows(option) || option == "late_rule" && options.contains("profile")
    filled(settings.filterNot(one => hasOwn(one.option)), options, session)
  }

  // Rows are late by event time only.
  private val OfLateRows = Set("delay", "allowed_lateness", "late_rule", "late_retention")

  private def filled(
      settings: Seq[Setting],
      options: Map[String, String],
      session: Map[String, String]
  ): Map[String, String] = {
    refuseUnknown(session)
    val defaults = for {
      setting <- settings if setting.hasSessionDefault
      value <- session.get(setting.sessionKey)
    } yield setting.option -> checked(setting, value.trim)
    defaults.toMap ++ options
  }

  private def refuseUnknown(session: Map[String, String]): Unit = {
    val keys = session.keySet.filter(_.startsWith(SettingsTable.Prefix))
    (keys -- SettingsTable.sessionKeys).toSeq.sorted.headOption.foreach { key =>
      val allowed = SettingsTable.sessionKeys.toSeq.sorted.mkString(", ")
      throw EventtideException("UNKNOWN_OPTION", "option" -> key, "allowed" -> allowed)
    }
  }

  // Checked under the session's key, because the user's program does not set the option.
  private def checked(setting: Setting, value: String): String = {
    val key = setting.sessionKey
    setting.valueType match {
      case "duration" =>
        val iso =
          Try(Duration.parse(value)).orElse(Try(sparkTime(value))).fold(_ => value, _.toString)
        OptionReader.parseDuration(key, iso, setting.least): Unit
        iso
      case kind =>
        val reader = new OptionReader(Map(key -> value))
        if (kind == "count") reader.count(key, setting.least.toInt): Unit
        else reader.choice(key, setting.choices.map(choice => choice -> choice)): Unit
        value
    }
  }

  // A number without a unit would count as microseconds.
  private def sparkTime(text: String): Duration = {
    require(!text.lastOption.exists(_.isDigit))
    Duration.ofNanos(Math.multiplyExact(JavaUtils.timeStringAs(text, TimeUnit.MICROSECONDS), 1000L))
  }
}
