package io.eventtide.spark

import org.apache.spark.sql.classic.{SparkSession => ClassicSession}
import org.apache.spark.sql.eventtide.RealTimePlans
import org.apache.spark.sql.functions.{count, lit}
import org.apache.spark.sql.{Row, SparkSession}
import org.scalatest.funsuite.AnyFunSuite

import io.eventtide.spark.planning.WatermarkStrategy
import io.eventtide.spark.testkit.Script

/** Sessions that a user's program configures. */
class ConfigureSuite extends AnyFunSuite {

  private def session(settings: (String, String)*)(work: SparkSession => Unit): Unit = {
    val builder = Eventtide.configure(SparkSession.builder().master("local[1]"))
    settings.foreach { case (key, value) => builder.config(key, value) }
    val spark = builder.config("spark.sql.session.timeZone", "UTC").getOrCreate()
    try work(spark)
    finally spark.stop()
  }

  private def strategies(spark: SparkSession): Int =
    spark.asInstanceOf[ClassicSession].sessionState.planner.strategies.count {
      case _: WatermarkStrategy => true
      case _ => false
    }

  test("a configured session runs windows") {
    val files = CheckpointConf.Key -> CheckpointConf.Manager
    session("spark.sql.shuffle.partitions" -> "1", files) { spark =>
      assert(strategies(spark) == 1)
      val script = Script(spark, "ts timestamp") { rows =>
        val window = Eventtide.window(rows).eventTime("ts", WatermarkPolicy.maxEventTime)
        window.tumbling("1m").agg(count(lit(1)).as("n")).results.select("n")
      }
      try {
        script.rows(Row("2024-01-01 00:00:07"), Row("2024-01-01 00:01:00"))
        script.expect(Row(1L))
      } finally script.close()
    }
  }

  test("a setting that installs the extension as well does not install it twice") {
    session("spark.sql.extensions" -> classOf[EventtideExtensions].getName) { spark =>
      assert(strategies(spark) == 1)
    }
  }

  test("a session for real-time mode has its settings") {
    def configured = Eventtide.configure(SparkSession.builder().master("local[1]"), realTime = true)
    if (RealTimePlans.canShuffle) {
      val spark = configured.getOrCreate()
      try {
        assert(spark.conf.get("spark.sql.streaming.realTimeMode.allowlistCheck") == "false")
        assert(spark.conf.get("spark.shuffle.streaming.networkBufferMaxWaitTimeMs") == "1")
        assert(spark.conf.get("spark.sql.streaming.stateStore.checkpointFormatVersion") == "2")
      } finally spark.stop()
    } else {
      val error = intercept[EventtideException](configured)
      assert(error.getCondition == "REAL_TIME_SPARK")
    }
  }
}
