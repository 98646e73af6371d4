package io.eventtide.spark

import java.util.{Locale, Map => JMap}

import scala.jdk.CollectionConverters._
import scala.util.matching.Regex

import com.fasterxml.jackson.databind.ObjectMapper
import org.apache.spark.{QueryContext, SparkThrowable}

/** An error with the problem, the value, the allowed values and the fix.
  *
  * It is an `IllegalArgumentException` because PySpark converts that class. For other classes it
  * keeps only the text, so the Python facade could not recover the class.
  *
  * @param condition
  *   the name in the catalogue `errors.json`, which has the message; Spark's listeners and
  *   PySpark's `getCondition` show it
  * @param places
  *   the places in a SQL text that the error is about; the message ends with them
  */
final class EventtideException(
    val condition: String,
    parameters: Map[String, String],
    places: Seq[QueryContext] = Nil
) extends IllegalArgumentException(ErrorCatalogue.message(condition, parameters, places))
    with SparkThrowable {

  /** This error at a place of a SQL text, unless it has a place already. */
  private[spark] def at(place: Option[QueryContext]): EventtideException =
    if (places.nonEmpty || place.isEmpty) this
    else {
      val placed = new EventtideException(condition, parameters, place.toSeq)
      placed.setStackTrace(getStackTrace)
      Option(getCause).foreach(placed.initCause)
      getSuppressed.foreach(placed.addSuppressed)
      placed
    }

  /** The exception class that the Python facade raises. */
  def pythonClass: String = ErrorCatalogue.pythonClass(condition)

  /** The problem, without the condition and without the fix. */
  def problem: String = ErrorCatalogue.problem(condition, parameters)

  /** The next step. */
  def fix: String = ErrorCatalogue.fix(condition, parameters)

  override def getCondition: String = condition

  override def getErrorClass: String = condition

  override def getMessageParameters: JMap[String, String] = parameters.asJava

  override def getQueryContext: Array[QueryContext] = places.toArray

  // The catalogue has no SQL states, and Spark's catalogue does not have the condition.
  override def getSqlState: String = null
}

object EventtideException {
  def apply(condition: String, parameters: (String, Any)*): EventtideException =
    new EventtideException(
      condition,
      parameters.map { case (key, value) => key -> String.valueOf(value) }.toMap
    )

  /** The Eventtide errors among a failure, its causes, and what each of them has suppressed. */
  private[spark] def in(failure: Throwable): Iterator[EventtideException] =
    Iterator
      .iterate(failure)(_.getCause)
      .takeWhile(_ != null)
      .flatMap(cause => cause +: cause.getSuppressed.toSeq)
      .collect { case named: EventtideException => named }
}

/** All messages, by condition. */
private[spark] object ErrorCatalogue {
  private val entries = {
    val resource = getClass.getResourceAsStream("errors.json")
    try new ObjectMapper().readTree(resource)
    finally resource.close()
  }

  def has(condition: String): Boolean = entries.has(condition)

  /** The templates of all messages, by condition, with parameters as in Spark's catalogue. */
  def templates: Map[String, String] =
    entries.fieldNames.asScala.map { condition =>
      val entry = entries.get(condition)
      condition -> s"${entry.get("problem").asText} ${entry.get("fix").asText}"
    }.toMap

  /** The message with the places in a SQL text, as Spark shows them. */
  def message(
      condition: String,
      parameters: Map[String, String],
      places: Seq[QueryContext]
  ): String =
    (message(condition, parameters, BuildInfo.docs) +: places.map(_.summary)).mkString("\n")

  /** The message; if the docs have an address, it ends with the address of the condition. */
  def message(
      condition: String,
      parameters: Map[String, String],
      docs: String
  ): String = {
    val text = s"[$condition] ${problem(condition, parameters)} ${fix(condition, parameters)}"
    val anchor = condition.toLowerCase(Locale.ROOT)
    if (docs.isEmpty) text else s"$text See ${docs.stripSuffix("/")}/reference/errors/#$anchor"
  }

  def problem(condition: String, parameters: Map[String, String]): String =
    filled(entries.get(condition).get("problem").asText, parameters)

  def fix(condition: String, parameters: Map[String, String]): String =
    filled(entries.get(condition).get("fix").asText, parameters)

  // In one pass: a value, such as the name of a column, may look like a parameter.
  private def filled(template: String, parameters: Map[String, String]): String =
    Place.replaceAllIn(
      template,
      place => Regex.quoteReplacement(parameters.getOrElse(place.group(1), place.matched))
    )

  private val Place = "<(\\w+)>".r

  def pythonClass(condition: String): String = entries.get(condition).get("python").asText
}
