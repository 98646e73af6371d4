package io.eventtide.spark.planning

import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.catalyst.streaming.WriteToStreamStatement
import org.apache.spark.sql.eventtide.RealTimePlans
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.streaming.OutputMode
import org.apache.spark.{SPARK_VERSION, SparkContext}

import io.eventtide.spark.EventtideException

/** Refuses a query that cannot run in real-time mode, before it starts. */
private[spark] object RealTimeStart {

  def check(start: WriteToStreamStatement): Unit = {
    checkSpark()
    refuse(start.outputMode != OutputMode.Update, "OUTPUT_MODE")
    start.inputQuery.foreach(checkNode)
    refuse(SQLConf.get.getConf(SQLConf.STREAMING_REAL_TIME_MODE_ALLOWLIST_CHECK), "SETTINGS")
    RealTimePlans.checkSink(start.sink)
    val windows = start.inputQuery.collect { case window: WindowAggregate => window }
    // the number of the source's partitions is known when the first batch is planned
    val fewest = windows.length * SQLConf.get.numShufflePartitions + 1
    checkSlots(SparkSession.active.sparkContext, fewest)
  }

  /** Refuses a version of Spark without a shuffle in real-time mode. */
  def checkSpark(): Unit = if (!RealTimePlans.canShuffle)
    throw EventtideException("REAL_TIME_SPARK", "found" -> SPARK_VERSION)

  /** Refuses a query with more tasks than run at once. Spark would stop it, with an error about its
    * scheduler.
    */
  def checkSlots(context: SparkContext, needed: Int): Unit =
    RealTimePlans.slots(context).filter(_ < needed).foreach { found =>
      throw EventtideException("REAL_TIME_SLOTS", "needed" -> needed, "found" -> found)
    }

  private def checkNode(node: LogicalPlan): Unit = {
    refuse(node.expressions.exists(_.exists(_.isInstanceOf[IngestionTime])), "INGESTION_TIME")
    node match {
      case window: WindowAggregate if !window.settings.hasOwnTime => window.foreach(checkPolicy)
      case _ => ()
    }
  }

  // The policies of the query run in the tasks of its windows.
  private def checkPolicy(node: LogicalPlan): Unit = node match {
    case watermark: PolicyWatermark =>
      watermark.settings.policy.onlyOnDriver.headOption.foreach { name =>
        throw EventtideException("REAL_TIME_POLICY", "policy" -> name)
      }
    case _ => ()
  }

  private def refuse(isRefused: Boolean, reason: String): Unit =
    if (isRefused) throw EventtideException(s"REAL_TIME_$reason")
}
