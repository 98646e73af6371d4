package io.eventtide.spark

import java.util.{Map => JMap}

import scala.jdk.CollectionConverters._
import scala.util.matching.Regex

import com.fasterxml.jackson.databind.ObjectMapper
import org.apache.spark.SparkThrowable

/** An error that says what is wrong, the value, what is allowed and how to mend it.
  *
  * It is an `IllegalArgumentException` because PySpark knows that one: of others it keeps the text
  * only, and the facade could not find the class again.
  *
  * @param condition
  *   its name in the catalogue `errors.json`, where the message stands; Spark's listeners and
  *   PySpark's `getCondition` show it
  */
final class EventtideException(val condition: String, parameters: Map[String, String])
    extends IllegalArgumentException(ErrorCatalogue.message(condition, parameters))
    with SparkThrowable {

  /** The class that the Python facade raises for it. */
  def pythonClass: String = ErrorCatalogue.pythonClass(condition)

  override def getCondition: String = condition

  override def getErrorClass: String = condition

  override def getMessageParameters: JMap[String, String] = parameters.asJava

  // The catalogue has none, and Spark's own does not know the condition.
  override def getSqlState: String = null
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
    s"[$condition] ${filled(template, parameters)}"
  }

  // Once: a value, such as the name of a column, may look like a parameter.
  private def filled(template: String, parameters: Map[String, String]): String =
    Place.replaceAllIn(
      template,
      place => Regex.quoteReplacement(parameters.getOrElse(place.group(1), place.matched))
    )

  private val Place = "<(\\w+)>".r

  def pythonClass(condition: String): String = entries.get(condition).get("python").asText
}
