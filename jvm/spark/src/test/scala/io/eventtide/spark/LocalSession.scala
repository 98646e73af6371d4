package io.eventtide.spark

import org.apache.spark.sql.classic.SparkSession
import org.scalatest.{BeforeAndAfterAll, Suite}

/** A local session with the extension, for one suite. */
trait LocalSession extends BeforeAndAfterAll { this: Suite =>

  protected def master: String = "local[2]"

  /** Settings that the session must have from its start. */
  protected def startSettings: Map[String, Any] = Map.empty

  protected lazy val spark: SparkSession = SparkSession
    .builder()
    .master(master)
    .config(startSettings)
    .config("spark.sql.extensions", classOf[EventtideExtensions].getName)
    .config("spark.sql.shuffle.partitions", "2")
    .config("spark.sql.session.timeZone", "UTC")
    .config("spark.sql.codegen.fallback", "false") // code that does not compile is no detail
    .config(CheckpointConf.Key, CheckpointConf.Manager)
    .getOrCreate()

  /** Works with a setting, which nobody has afterwards. */
  protected def withConf[A](key: String, value: String)(work: => A): A = {
    spark.conf.set(key, value)
    try work
    finally spark.conf.unset(key)
  }

  override protected def afterAll(): Unit =
    try spark.stop()
    finally super.afterAll()
}
