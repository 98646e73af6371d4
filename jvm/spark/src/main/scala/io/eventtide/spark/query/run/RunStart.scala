package io.eventtide.spark.query.run

import org.apache.hadoop.fs.Path
import org.apache.spark.sql.eventtide.StreamExecutionAccess
import org.apache.spark.sql.internal.SQLConf

import io.eventtide.spark.checkpoint.{BatchLedger, CheckpointStructure, RunEpoch}
import io.eventtide.spark.latelog.LateRows
import io.eventtide.spark.options.StoredFrames
import io.eventtide.spark.query.monitor.{LagCurveSettings, MonitorThresholds, WatermarkMonitor}
import io.eventtide.spark.spi.PlanNodes

/** The start of a run. It checks plan, session, checkpoint and clock, takes the checkpoint over, and
  * then opens the state of the run. Before the takeover nothing is written; after it, the comparisons
  * run once more.
  */
private[run] final class RunStart(query: StreamExecutionAccess) {
  private val root = new Path(query.checkpointRoot)
  private val sqlConf = query.session.sessionState.conf
  private val conf = query.session.sessionState.newHadoopConf()
  private val retain = sqlConf.getConf(SQLConf.MIN_BATCHES_TO_RETAIN)
  private val watermarks = PlanNodes.watermarks(query.analyzedPlan)
  private val windows = PlanNodes.windows(query.analyzedPlan)
  private lazy val plan = CheckpointStructure.of(query.analyzedPlan)
  private val monitor = new WatermarkMonitor(query.label, MonitorThresholds.of(sqlConf))
  private val inputs = QueryInputs.of(
    watermarks.map(node => node.nodeId -> node.settings),
    LagCurveSettings.rows(sqlConf)
  )

  def open(): RunState = {
    checkQuery()
    val start = new CheckpointStart(root, conf)
    start.refuseOther(query, plan) // before this run takes the checkpoint over from another run
    val steps = ClockSteps.of(query, inputs, monitor)
    start.sinceLast(query.nowMs * 1000).foreach(steps.checkAtStart)
    val epoch = new RunEpoch(root, query.runId, conf)
    epoch.begin()
    epoch.owning {
      val structure = new CheckpointStart(root, conf).begin(query, plan)
      warnOfGrowth()
      state(structure, steps, epoch)
    }
  }

  private def checkQuery(): Unit = {
    PlanValidator.oneWatermarkEach(query.analyzedPlan)
    if (windows.nonEmpty) {
      StateStoreValidator.rocksDb(query.session)
      StateStoreValidator.severalOperators(query.session)
    }
  }

  private def warnOfGrowth(): Unit = watermarks
    .map(_.settings)
    .filter(_.growsUnbounded)
    .foreach(of => monitor.growsUnbounded(of.substreams.text))

  private def state(
      structure: CheckpointStructure,
      steps: ClockSteps,
      epoch: RunEpoch
  ): RunState = new RunState(
    query,
    structure,
    inputs,
    ledger = new BatchLedger(root, retain, conf),
    late = LateRows.open(query, root, retain, conf),
    completeness = new Completeness(settings(structure), CompletenessLimits.of(sqlConf)),
    timers = timers(structure),
    monitor,
    steps,
    epoch,
    policies = PolicyCalls.of(watermarks.map(_.settings), sqlConf)
  )

  private def timers(structure: CheckpointStructure): WindowTimers = {
    val onlyForWindows = windows.nonEmpty && PlanValidator.isOnlyForWindows(query.analyzedPlan)
    new WindowTimers(settings(structure).map(_._2), onlyForWindows)
  }

  // The settings of each window, by the id of its node.
  private def settings(structure: CheckpointStructure) =
    windows.zip(structure.windows).toIndexedSeq.map { case (window, stored) =>
      window.nodeId -> StoredFrames.settings(window.settings, stored)
    }
}
