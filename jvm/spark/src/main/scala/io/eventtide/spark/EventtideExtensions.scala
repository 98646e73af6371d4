package io.eventtide.spark

import java.util.{Collections, WeakHashMap}

import org.apache.spark.sql.SparkSessionExtensions
import org.apache.spark.sql.classic.SparkSession
import org.apache.spark.sql.eventtide.{HintRules, SparkErrors}

import io.eventtide.spark.latelog.RetainTempCheckpoint
import io.eventtide.spark.planning.{
  DetachClock,
  Drain,
  ExpectedShare,
  FillExpectedShare,
  FillIngestionTime,
  RealTimeOperators,
  ReplayedBatchGuards,
  ResolveEventtideRequest,
  StartQueryRule,
  WatermarkStrategy,
  WindowStrategy
}
import io.eventtide.spark.sql.{QuoteArguments, TableFunctions}

/** Installs Eventtide: `spark.sql.extensions=io.eventtide.spark.EventtideExtensions`.
  *
  * {{{
  *   parsed SQL      TableFunctions: a call of a function becomes a request, or a report
  *   analyzer        ResolveEventtideRequest: a request becomes the nodes of a watermark or a window
  *                   StartQueryRule, as a hint rule: only these run before Spark's check
  *                   RetainTempCheckpoint, after the query's checkpoint has been resolved
  *                   Drain, for a query that closes all windows at its end
  *   analyzed plan   ... PolicyWatermark - AttachClock(data, clock source) ...
  *   optimizer       DetachClock: removes the clock from the batch's plan, keeps the watermark node
  *                   FillIngestionTime and FillExpectedShare, after the rules that move expressions
  *                   ReplayedBatchGuards, for a replayed batch
  *   planner         WatermarkStrategy, before Spark's: PolicyWatermark -> PolicyWatermarkExec
  *                   WindowStrategy
  *   physical plan   RealTimeOperators: refuses operators that real-time mode does not support
  *   end of batch    Spark's WatermarkTracker reads the node, which reads the query's policies
  * }}}
  */
final class EventtideExtensions extends (SparkSessionExtensions => Unit) {
  override def apply(extensions: SparkSessionExtensions): Unit =
    if (EventtideExtensions.areNew(extensions)) inject(extensions)

  private def inject(extensions: SparkSessionExtensions): Unit = {
    SparkErrors.add(ErrorCatalogue.templates)
    TableFunctions.install(extensions)
    HintRules.inject(extensions, Seq(QuoteArguments, StartQueryRule))
    extensions.injectResolutionRule(session =>
      ResolveEventtideRequest(session.asInstanceOf[SparkSession])
    )
    extensions.injectPostHocResolutionRule(_ => RetainTempCheckpoint)
    extensions.injectPostHocResolutionRule(_ => Drain)
    extensions.injectOptimizerRule(_ => DetachClock)
    extensions.injectPreCBORule(session => FillIngestionTime(session.asInstanceOf[SparkSession]))
    extensions.injectPreCBORule(session => FillExpectedShare(session.asInstanceOf[SparkSession]))
    extensions.injectFunction(ExpectedShare.function)
    extensions.injectPreCBORule(session => ReplayedBatchGuards(session.asInstanceOf[SparkSession]))
    extensions.injectPlannerStrategy(session =>
      WatermarkStrategy(session.asInstanceOf[SparkSession])
    )
    extensions.injectPlannerStrategy(session => WindowStrategy(session.asInstanceOf[SparkSession]))
    extensions.injectColumnar(_ => RealTimeOperators)
  }
}

private object EventtideExtensions {
  private val injected = Collections.newSetFromMap(
    new WeakHashMap[SparkSessionExtensions, java.lang.Boolean]
  )

  /** Whether the rules are not yet there: a setting and `Eventtide.configure` may both install them.
    */
  def areNew(extensions: SparkSessionExtensions): Boolean =
    injected.synchronized(injected.add(extensions))
}
