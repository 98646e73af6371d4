package io.eventtide.spark.api

import java.util.{Map => JMap}

import scala.jdk.CollectionConverters._

import com.fasterxml.jackson.databind.ObjectMapper

import io.eventtide.spark.query.run.WriteConflict
import io.eventtide.spark.{ErrorCatalogue, EventtideException}

/** Errors of Eventtide as JSON, from which Python makes its exceptions. */
private[spark] object ErrorReport {
  private val mapper = new ObjectMapper()

  /** The Eventtide error that caused a failure; None if there is none. */
  def of(failure: Throwable): Option[String] =
    causes(failure)
      .collectFirst { case named: EventtideException => named }
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

  // A failure, its causes, and the exceptions that each of them has suppressed.
  private def causes(failure: Throwable): Iterator[Throwable] =
    Iterator.iterate(failure)(_.getCause).takeWhile(_ != null).flatMap { cause =>
      cause +: cause.getSuppressed.toSeq
    }
}
