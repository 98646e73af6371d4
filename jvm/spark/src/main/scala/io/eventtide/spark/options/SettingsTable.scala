package io.eventtide.spark.options

import scala.jdk.CollectionConverters._

import com.fasterxml.jackson.databind.{JsonNode, ObjectMapper}

/** One setting of a watermark or of a window: a row of `settings.json`.
  *
  * @param option
  *   the name in the map of options
  * @param kinds
  *   the kinds of windows that have it; empty for all kinds, and for watermarks
  * @param valueType
  *   the type of its value
  * @param least
  *   the lowest value: a duration in microseconds, or a count
  * @param choices
  *   the allowed values of a choice
  * @param hasSessionDefault
  *   whether `spark.eventtide.<option in camel case>` is its default
  */
private[spark] final case class Setting(
    option: String,
    valueType: String,
    kinds: Set[String],
    least: Long,
    choices: Seq[String],
    hasSessionDefault: Boolean
) {

  /** The key of the session's default. */
  def sessionKey: String = {
    val words = option.split('_')
    (words.take(1) ++ words.drop(1).map(_.capitalize)).mkString(SettingsTable.Prefix, "", "")
  }

  def belongsTo(kindOfWindow: String): Boolean = kinds.isEmpty || kinds(kindOfWindow)
}

/** All settings of watermarks and windows that have an option; columns are passed separately. The
  * reference and the schema of YAML are generated from the same file. Tests compare it with the
  * codecs and with Python's methods.
  */
private[spark] object SettingsTable {

  /** The start of the keys of a session. */
  val Prefix = "spark.eventtide."

  private val (watermarks, windows, others) = {
    val resource = getClass.getResourceAsStream("/io/eventtide/spark/settings.json")
    val rows =
      try new ObjectMapper().readTree(resource).elements.asScala.toSeq
      finally resource.close()
    def settings(of: String) =
      rows.filter(_.get("of").asText == of).filter(_.has("option")).map(setting)
    (settings("watermark"), settings("window"), settings("session") ++ settings("server"))
  }

  def watermark: Seq[Setting] = watermarks

  def window: Seq[Setting] = windows

  /** The keys of all settings of a session and of its server. */
  lazy val sessionKeys: Set[String] = {
    val defaults = (watermarks ++ windows).filter(_.hasSessionDefault)
    (defaults ++ others).map(_.sessionKey).toSet
  }

  private def setting(row: JsonNode): Setting = {
    def texts(field: String) = row.path(field).elements.asScala.map(_.asText).toSeq
    Setting(
      row.get("option").asText,
      row.get("type").asText,
      texts("kinds").toSet,
      least(row.path("least")),
      texts("choices"),
      row.path("session").asBoolean
    )
  }

  private def least(value: JsonNode): Long =
    if (value.isTextual) OptionReader.parseDuration("least", value.asText, 0) else value.asLong
}
