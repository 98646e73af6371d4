package io.eventtide.spark

import com.fasterxml.jackson.databind.ObjectMapper

/** An error that says what is wrong, the value, what is allowed and how to mend it.
  *
  * It is an `IllegalArgumentException` because PySpark knows that one: of others it keeps the text
  * only, and the facade could not find the class again.
  *
  * @param condition
  *   its name in the catalogue `errors.json`, where the message stands
  */
final class EventtideException(val condition: String, parameters: Map[String, String])
    extends IllegalArgumentException(ErrorCatalogue.message(condition, parameters)) {

  /** The class that the Python facade raises for it. */
  def getErrorClass: String = ErrorCatalogue.pythonClass(condition)
}

object EventtideException {
  def apply(condition: String, parameters: (String, Any)*): EventtideException =
    new EventtideException(
      condition,
      parameters.map { case (key, value) => key -> value.toString }.toMap
    )
}

/** All messages, by condition. */
private[spark] object ErrorCatalogue {
  private val entries = {
    val resource = getClass.getResourceAsStream("errors.json")
    try new ObjectMapper().readTree(resource)
    finally resource.close()
  }

  def message(condition: String, parameters: Map[String, String]): String = {
    val template = entries.get(condition).get("message").asText
    val filled = parameters.foldLeft(template) { case (text, (key, value)) =>
      text.replace(s"<$key>", value)
    }
    s"[$condition] $filled"
  }

  def pythonClass(condition: String): String = entries.get(condition).get("python").asText
}
