package io.eventtide.spark.planning

import org.apache.spark.sql.{Dataset, SparkSession, classic}

import io.eventtide.spark.EventtideException

/** Spark's public classes stand for two kinds of session. The calls of this package run in the driver
  * of a classic session.
  */
private[spark] object ClassicSession {

  def of(session: SparkSession): classic.SparkSession = session match {
    case found: classic.SparkSession => found
    case other => refuse(other)
  }

  def rows(of: Dataset[_]): classic.DataFrame = of match {
    case found: classic.Dataset[_] => found.toDF()
    case other => refuse(other)
  }

  private def refuse(other: Any): Nothing = {
    val kind = Option(other).fold("null")(_.getClass.getName)
    throw EventtideException("SESSION_NOT_CLASSIC", "class" -> kind)
  }
}
