package org.apache.spark.sql.eventtide

import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.connector.catalog.Table
import org.apache.spark.sql.execution.SparkPlan
import org.apache.spark.sql.execution.datasources.v2.{
  RealTimeStreamScanExec,
  StreamingDataSourceV2ScanRelation
}
import org.apache.spark.sql.execution.exchange.ShuffleExchangeExec
import org.apache.spark.sql.execution.streaming.runtime.RealTimeModeAllowlist
import org.apache.spark.sql.execution.streaming.sources.MemorySink
import org.apache.spark.util.VersionUtils
import org.apache.spark.{SPARK_VERSION, SparkContext, SparkIllegalArgumentException}

/** Plans of Spark's real-time mode. */
object RealTimePlans {

  /** Whether real-time mode can shuffle rows: since Spark 4.3. */
  val canShuffle: Boolean = {
    val (major, minor) = VersionUtils.majorMinorVersion(SPARK_VERSION)
    major > 4 || major == 4 && minor >= 3
  }

  /** Whether a plan reads a source in real-time mode: from an offset on, with no end. */
  def isRealTime(plan: LogicalPlan): Boolean = plan.exists {
    case scan: StreamingDataSourceV2ScanRelation =>
      scan.startOffset.isDefined && scan.endOffset.isEmpty
    case _ => false
  }

  def isRealTime(plan: SparkPlan): Boolean = plan.exists(_.isInstanceOf[RealTimeStreamScanExec])

  /** The number of tasks that a local session runs at once. It is None on a cluster, whose executors
    * may come later.
    */
  def slots(context: SparkContext): Option[Int] = Option.when(context.isLocal) {
    context.maxNumConcurrentTasks(context.resourceProfileManager.defaultResourceProfile)
  }

  /** The number of tasks of a plan, which all run at the same time. */
  def tasks(plan: SparkPlan): Int = plan.collect {
    case scan: RealTimeStreamScanExec => scan.inputPartitions.size
    case exchange: ShuffleExchangeExec => exchange.outputPartitioning.numPartitions
  }.sum

  /** The operators that real-time mode does not support; None if there are none. */
  def unsupportedOperators(plan: SparkPlan): Option[String] = unsupported {
    RealTimeModeAllowlist.checkAllowedPhysicalOperator(plan, throwException = true)
  }

  /** The sink, if real-time mode does not support it. Spark does not list the sink `memory`, which shows
    * rows at the end of a batch only.
    */
  def unsupportedSink(sink: Table): Option[String] =
    if (sink.isInstanceOf[MemorySink]) None
    else unsupported(RealTimeModeAllowlist.checkAllowedSink(sink, throwException = true))

  // Spark's error names classes, in a sentence such as "a.b.C, d.E are".
  private def unsupported(check: => Unit): Option[String] =
    try {
      check
      None
    } catch {
      case refused: SparkIllegalArgumentException =>
        val classes = refused.getMessageParameters.get("message").replaceAll(" (is|are)$", "")
        Some(classes.split(", ").map(_.split('.').last.stripSuffix("$")).mkString(", "))
    }
}
