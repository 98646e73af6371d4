package org.apache.spark.sql.eventtide

import org.apache.spark.{ErrorClassesJsonReader, ErrorInfo, SparkThrowableHelper}

/** Spark's catalogue of errors. PySpark reads the message of an error from it. For a condition that
  * the catalogue lacks, `getMessage()` fails, and so does any error with a place in a SQL text.
  */
object SparkErrors {

  /** Adds conditions with the templates of their messages, unless the catalogue has them. */
  def add(templates: Map[String, String]): Unit = synchronized {
    val reader = SparkThrowableHelper.errorReader
    val own = templates.removedAll(reader.errorInfoMap.keys).map { case (condition, template) =>
      condition -> new ErrorInfo(Seq(template), subClass = None, sqlState = None)
    }
    // The catalogue is read once from a file, and nothing else can add to it.
    if (own.nonEmpty) {
      val field = classOf[ErrorClassesJsonReader].getDeclaredField("errorInfoMap")
      field.setAccessible(true)
      field.set(reader, reader.errorInfoMap ++ own)
    }
  }
}
