package io.eventtide.spark.latelog

import scala.collection.mutable.ArrayBuffer

import org.apache.logging.log4j.LogManager
import org.apache.logging.log4j.core.appender.AbstractAppender
import org.apache.logging.log4j.core.config.Property
import org.apache.logging.log4j.core.{LogEvent, Logger}

/** What a class says in the log. */
object Warnings {
  def of(logging: Class[_])(action: => Unit): Seq[String] = {
    val messages = ArrayBuffer.empty[String]
    val appender = new AbstractAppender("late", null, null, true, Property.EMPTY_ARRAY) {
      override def append(event: LogEvent): Unit =
        messages.synchronized(messages += event.getMessage.getFormattedMessage): Unit
    }
    appender.start()
    val logger = LogManager.getLogger(logging.getName).asInstanceOf[Logger]
    logger.addAppender(appender)
    try action
    finally logger.removeAppender(appender)
    messages.toSeq
  }
}
