package io.eventtide.spark

import org.apache.spark.sql.SparkSessionExtensions
import org.apache.spark.sql.classic.SparkSession

import io.eventtide.spark.latelog.RetainTempCheckpoint
import io.eventtide.spark.planning.{
  BegunGuards,
  DetachClock,
  Drain,
  FillIngestionTime,
  StartQueryRule,
  WatermarkStrategy,
  WindowStrategy
}

/** Installs Eventtide: `spark.sql.extensions=io.eventtide.spark.EventtideExtensions`.
  *
  * {{{
  *   analyser        StartQueryRule, among the hints, which alone come before Spark's own check
  *                   RetainTempCheckpoint, once the query's checkpoint has been decided on
  *                   Drain, where the query shall close all windows at its end
  *   analysed plan   ... PolicyWatermark - AttachClock(data, clock source) ...
  *   optimizer       DetachClock: the clock leaves the batch's plan, the watermark node stays
  *                   FillIngestionTime, after the rules that move expressions about
  *                   BegunGuards, for a batch that is run again
  *   planner         WatermarkStrategy: PolicyWatermark -> PolicyWatermarkExec, before Spark's own
  *   batch's end     Spark's WatermarkTracker asks the node, the node asks the query's policies
  * }}}
  */
final class EventtideExtensions extends (SparkSessionExtensions => Unit) {
  override def apply(extensions: SparkSessionExtensions): Unit = {
    extensions.injectHintResolutionRule(_ => StartQueryRule)
    extensions.injectPostHocResolutionRule(_ => RetainTempCheckpoint)
    extensions.injectPostHocResolutionRule(_ => Drain)
    extensions.injectOptimizerRule(_ => DetachClock)
    extensions.injectPreCBORule(session => FillIngestionTime(session.asInstanceOf[SparkSession]))
    extensions.injectPreCBORule(session => BegunGuards(session.asInstanceOf[SparkSession]))
    extensions.injectPlannerStrategy(session =>
      WatermarkStrategy(session.asInstanceOf[SparkSession])
    )
    extensions.injectPlannerStrategy(session => WindowStrategy(session.asInstanceOf[SparkSession]))
  }
}
