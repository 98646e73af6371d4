package io.eventtide.spark.planning

import org.apache.hadoop.fs.Path
import org.apache.spark.sql.catalyst.expressions.{Literal, ScalarSubquery}
import org.apache.spark.sql.catalyst.plans.logical.{Aggregate, LogicalPlan}
import org.apache.spark.sql.catalyst.types.DataTypeUtils
import org.apache.spark.sql.classic.{DataFrame, SparkSession}
import org.apache.spark.sql.eventtide.SparkInternals
import org.apache.spark.sql.types.{StructType, TimestampType}

import io.eventtide.spark.EventtideException
import io.eventtide.spark.checkpoint.{CheckpointFiles, CheckpointPath, OffsetFiles, PlanFile}
import io.eventtide.spark.operators.window.StateReader
import io.eventtide.spark.operators.{WindowBatchContext, WindowOperatorSpec}
import io.eventtide.spark.options.{AggregateHistory, OptionReader, StoredFrames}
import io.eventtide.spark.query.run.StateStoreValidator
import io.eventtide.spark.query.state.CheckpointState

/** Reads the state of a window from a checkpoint of its query. */
private[spark] object WindowState {

  /** Returns a row for each open window, as if it closed after the last committed batch.
    *
    * @param results
    *   the results of the window, as in the query; for chained windows, the results of the last
    *   window
    * @param checkpoint
    *   the query's checkpoint location
    */
  def read(results: DataFrame, checkpoint: String): DataFrame = {
    val session = results.sparkSession
    SessionValidator.installed(session)
    StateStoreValidator.rocksDb(session)
    val conf = session.sessionState.newHadoopConf()
    val root = CheckpointPath.root(checkpoint, conf)
    def missing = throw EventtideException("STATE_MISSING", "root" -> checkpoint)

    val node = WindowAggregate.allIn(results.queryExecution.analyzed).headOption.getOrElse {
      OptionReader.missing("window", "the results of an Eventtide window")
    }
    val batch = new CheckpointFiles(new Path(root, "commits"), conf).lastBatch.getOrElse(missing)
    val closed = new OffsetFiles(root, conf).closedBy(batch, node.settings) _
    val (position, stored) =
      new PlanFile(root, batch, conf).windowAt(node.structure, closed).getOrElse(missing)
    val operator = WindowBatchContext.FirstOperatorId + position
    val current = node.under(StoredFrames.settings(node.settings, stored))
    val window = planned(session, current, AggregateHistory.of(stored))
    val state = CheckpointState.of(session, root).of(operator, window.families, batch)
    val reader = StateReader(window, state.getOrElse(missing))
    SparkInternals.dataFrame(session, reader.rows(session), columns(window))
  }

  // The late log uses the same column name for the watermark.
  private def columns(window: WindowOperatorSpec): StructType = {
    val results = DataTypeUtils.fromAttributes(window.output)
    if (window.settings.hasOwnTime) results.add("_watermark", TimestampType) else results
  }

  // Plans the window over an empty input, so that the plan does not depend on Spark's inferences
  // about the caller's rows.
  private def planned(
      session: SparkSession,
      node: WindowAggregate,
      history: Option[AggregateHistory]
  ): WindowOperatorSpec = {
    val above = node.withNewChildren(node.children.map {
      case aggregate: Aggregate =>
        aggregate.copy(child = SparkInternals.empty(session, aggregate.child.output))
      case other => other
    })
    val optimized: LogicalPlan = session.sessionState.optimizer.execute(above)
    val window = WindowPlanning(WindowAggregate.allIn(optimized).head, history).window
    window.withValues(window.subqueries.collect { case query: ScalarSubquery =>
      Literal(SparkInternals.value(session, query.plan), query.dataType)
    })
  }
}
