package io.eventtide.spark.api

import java.util.{Map => JMap}

import scala.jdk.CollectionConverters._

import com.fasterxml.jackson.databind.ObjectMapper

import io.eventtide.spark.checkpoint.WriteConflict
import io.eventtide.spark.{ErrorCatalogue, EventtideException}

/** Errors of Eventtide as JSON, from which Python makes its exceptions. */
private[spark] object ErrorReport {
  private val mapper = new ObjectMapper()

  /** The Eventtide error that caused a failure; None if there is none. */
  def of(failure: Throwable): Option[String] =
    EventtideException
      .in(failure)
      .nextOption()
      .orElse(WriteConflict.onStart(failure))
      .map(error => json(error.condition, error.getMessageParameters))

  /** An error that a client knows by its condition and parameters only; None for a condition of
    * Spark.
    */
  def of(condition: String, parameters: Map[String, String]): Option[String] =
    Option.when(ErrorCatalogue.has(condition))(json(condition, parameters.asJava))

  private def json(condition: String, parameters: JMap[String, String]): String = {
    val error = new EventtideException(condition, parameters.asScala.toMap)
    val fields = Map[String, Any](
      "class" -> error.pythonClass,
      "message" -> error.getMessage,
      "condition" -> condition,
      "problem" -> error.problem,
      "fix" -> error.fix,
      "parameters" -> parameters
    )
    mapper.writeValueAsString(fields.asJava)
  }
}
