package io.eventtide.spark

import java.util.Properties

/** Build properties of this jar, written by the build. */
private[spark] object BuildInfo {
  private val properties = {
    val loaded = new Properties
    val in = getClass.getResourceAsStream("/eventtide.properties")
    try loaded.load(in)
    finally in.close()
    loaded
  }

  /** The version of Eventtide, as in pyproject.toml. */
  val version: String = properties.getProperty("version")

  /** The Spark minor version that the jar was compiled against, such as "4.3". */
  val sparkMinor: String = properties.getProperty("sparkMinor")

  /** The Spark minor versions that jars exist for, such as "4.2, 4.3". */
  val sparkMinors: String = properties.getProperty("sparkMinors")

  /** The address of the docs, as in project/addresses.toml; empty if there is none. */
  val docs: String = properties.getProperty("docs")
}
