package io.eventtide.spark.connect

import org.apache.spark.sql.classic.SparkSession

import io.eventtide.spark.EventtideException

/** The permissions of clients, which are settings of the server: a session cannot change them. */
private[connect] object ServerPermissions {
  private val FileChanges = "spark.eventtide.connect.allowFileChanges"
  private val TestKit = "spark.eventtide.connect.testKit"

  /** Changes or deletes files of a checkpoint, if clients may do so. */
  def changingFiles[A](question: ConnectQuestion)(change: => A): A =
    if (has(question.session, FileChanges)) change
    else
      throw EventtideException(
        "CONNECT_CHANGES_OFF",
        "request" -> question.message.name,
        "setting" -> FileChanges
      )

  /** Refuses the test kit, unless clients may use it. */
  def checkTestKit(session: SparkSession): Unit =
    if (!has(session, TestKit))
      throw EventtideException("CONNECT_TEST_KIT_OFF", "setting" -> TestKit)

  private def has(session: SparkSession, setting: String): Boolean =
    session.sparkContext.getConf.getBoolean(setting, false)
}
