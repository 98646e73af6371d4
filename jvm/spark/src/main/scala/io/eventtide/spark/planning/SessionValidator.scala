package io.eventtide.spark.planning

import org.apache.spark.SPARK_VERSION
import org.apache.spark.sql.classic.SparkSession
import org.apache.spark.sql.internal.StaticSQLConf

import io.eventtide.spark.{BuildInfo, EventtideException}

/** Checks that a session can plan Eventtide's nodes. Spark only logs a missing extension. */
private[spark] object SessionValidator {

  def installed(session: SparkSession): Unit = {
    rightSpark()
    if (!isInstalled(session)) {
      val extensions = session.conf.getOption(StaticSQLConf.SPARK_SESSION_EXTENSIONS.key)
      throw EventtideException("EXTENSION_MISSING", "extensions" -> extensions.getOrElse(""))
    }
  }

  def isInstalled(session: SparkSession): Boolean =
    session.sessionState.planner.strategies.exists(_.isInstanceOf[WatermarkStrategy])

  /** Rejects a minor version of Spark that this jar was not compiled against. */
  private[planning] def rightSpark(version: String = SPARK_VERSION): Unit =
    if (minor(version) != BuildInfo.sparkMinor) {
      throw EventtideException(
        "WRONG_SPARK_VERSION",
        "built" -> BuildInfo.sparkMinor,
        "running" -> minor(version),
        "supported" -> BuildInfo.sparkMinors
      )
    }

  private def minor(version: String): String = version.split('.').take(2).mkString(".")
}
