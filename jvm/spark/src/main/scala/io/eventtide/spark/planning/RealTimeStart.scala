package io.eventtide.spark.planning

import org.apache.hadoop.fs.Path
import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.catalyst.expressions.PythonUDF
import org.apache.spark.sql.catalyst.plans.logical.{
  LogicalPlan,
  RebalancePartitions,
  RepartitionOperation
}
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
    RealTimePlans.unsupportedSink(start.sink).foreach { found =>
      throw EventtideException("REAL_TIME_SINK", "sink" -> found)
    }
    refuse(start.outputMode != OutputMode.Update, "OUTPUT_MODE")
    start.inputQuery.foreach(checkNode)
    checkBehind(start.inputQuery)
    refuse(SQLConf.get.getConf(SQLConf.STREAMING_REAL_TIME_MODE_ALLOWLIST_CHECK), "SETTINGS")
    if (isNew(start)) checkSlots(SparkSession.active.sparkContext, fewestTasks(start.inputQuery))
  }

  // The number of the source's partitions is known when the first batch is planned.
  private def fewestTasks(query: LogicalPlan): Int = 1 + query.collect {
    case window: WindowAggregate if window.hasKeys => SQLConf.get.numShufflePartitions
    case _: WindowAggregate => 1
  }.sum

  // A checkpoint has the number of its partitions, with which its query continues.
  private def isNew(start: WriteToStreamStatement): Boolean = {
    val folder = start.userSpecifiedCheckpointLocation.orElse {
      for {
        root <- SQLConf.get.checkpointLocation; name <- start.userSpecifiedName
      } yield s"$root/$name"
    }
    folder.map(new Path(_)).forall { root =>
      !root.getFileSystem(start.hadoopConf).exists(new Path(root, "metadata"))
    }
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
    val expressions = node.expressions.flatMap(_.collect { case one => one })
    refuse(expressions.exists(_.isInstanceOf[IngestionTime]), "INGESTION_TIME")
    expressions.collectFirst { case function: PythonUDF =>
      throw EventtideException("REAL_TIME_PYTHON", "function" -> function.name)
    }
    node match {
      case window: WindowAggregate if window.settings.hasOwnTime =>
        refuse(window.settings.byKey.exists(_.idleness.inEventTime), "KEY_IDLE_CLOCK")
      case window: WindowAggregate =>
        window.foreach(checkPolicy)
        refuse(isRepartitioned(window.child), "REPARTITION")
      case _ => ()
    }
  }

  // The markers of a task are of the rows that it observes, so no shuffle may be in between.
  private def isRepartitioned(below: LogicalPlan): Boolean = below match {
    case _: RepartitionOperation | _: RebalancePartitions => true
    case _: PolicyWatermark => false
    case other => other.children.exists(isRepartitioned)
  }

  // Within a batch, the watermark of its input stands still.
  private def checkBehind(query: LogicalPlan): Unit =
    StartQueryRule.statefulAbove(query)(_.isInstanceOf[WindowAggregate]).foreach { node =>
      throw EventtideException("REAL_TIME_STATEFUL", "operator" -> node.nodeName)
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
