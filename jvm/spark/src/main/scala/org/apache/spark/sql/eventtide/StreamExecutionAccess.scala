package org.apache.spark.sql.eventtide

import java.util.UUID

import org.apache.spark.sql.catalyst.plans.logical.{EventTimeWatermark, LogicalPlan}
import org.apache.spark.sql.classic.SparkSession
import org.apache.spark.sql.connector.read.streaming.{
  ReadLimit,
  ReadMaxFiles,
  SparkDataStream,
  SupportsAdmissionControl
}
import org.apache.spark.sql.execution.SQLExecution
import org.apache.spark.sql.execution.datasources.v2.StreamingDataSourceV2ScanRelation
import org.apache.spark.sql.execution.datasources.{HadoopFsRelation, LogicalRelation}
import org.apache.spark.sql.execution.streaming.operators.stateful.{
  StateStoreWriter,
  StatefulOperatorStateInfo
}
import org.apache.spark.sql.execution.streaming.runtime.{
  IncrementalExecution,
  MicroBatchExecution,
  MultipleWatermarkPolicy,
  StreamExecution,
  StreamingQueryWrapper
}
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.streaming.{
  StateOperatorProgress,
  StreamingQuery,
  StreamingQueryException
}
import org.apache.spark.util.SystemClock

/** What one micro-batch is, from the offset log: the same when the batch is run again. */
final case class BatchInfo(batchId: Long, timestampMs: Long, watermarkMs: Long)

/** One run of a streaming query, seen from its own execution thread.
  *
  * Everything that Eventtide needs of `StreamExecution` passes through here, so that a new Spark
  * release has one place to look at.
  */
final class StreamExecutionAccess private (execution: StreamExecution) {

  def id: UUID = execution.id
  def runId: UUID = execution.runId
  def isActive: Boolean = execution.isActive

  /** What the run has ended by, if something did, also before anybody is told that it has ended. */
  def failure: Option[StreamingQueryException] = execution.exception

  /** The name under which its metrics go: that of no other query begins with it. */
  def metricsName: String =
    s"eventtide.${Option(execution.name).getOrElse(id.toString).replace('.', '_')}.query"

  /** What Spark said of the state after the last batch; none before the first. */
  def stateOperators: Seq[StateOperatorProgress] =
    Option(execution.lastProgress).fold(Seq.empty[StateOperatorProgress])(_.stateOperators.toSeq)

  /** The query as people tell it from others: by its name, if it has one. */
  def label: String = Option(execution.name).fold(s"query $id")(name => s"query '$name'")

  /** Whether somebody waits for the query to have nothing to do, as `processAllAvailable` does. */
  def isAwaited: Boolean = ExecutionAccess.isAwaited(execution)

  /** The query's own, with the settings that the user's had when it was started. */
  def session: SparkSession = execution.sparkSessionForStream

  def checkpointRoot: String = execution.resolvedCheckpointRoot
  def analyzedPlan: LogicalPlan = execution.analyzedPlan
  def nowMs: Long = execution.triggerClock.getTimeMillis()

  /** Time by a clock that nobody sets: only how much passes means something. */
  def elapsedMs: Long = execution.triggerClock match {
    case scripted: TestClock => scripted.elapsedMs
    case _: SystemClock => System.nanoTime() / 1000000
    case other => other.getTimeMillis()
  }

  /** The batch that is being planned or run now. */
  def batch: BatchInfo = batchOf(execution.lastExecution)

  /** Where an operator of the batch keeps its state; ids are the caller's to choose. */
  def stateInfo(operatorId: Long): StatefulOperatorStateInfo = {
    val planned = execution.lastExecution
    StatefulOperatorStateInfo(
      planned.checkpointLocation,
      planned.runId,
      operatorId,
      planned.currentBatchId,
      planned.numStateStores,
      stateSchemaMetadata = None,
      planned.currentStateStoreCkptId.get(operatorId)
    )
  }

  /** The watermark below which rows that reach an operator in this batch are late; 0 for none. */
  def lateWatermarkMs(operatorId: Long): Long = {
    val planned = execution.lastExecution
    planned.watermarkPropagator.getInputWatermarkForLateEvents(planned.currentBatchId, operatorId)
  }

  /** The watermark up to which an operator closes in this batch; 0 for none. */
  def closingWatermarkMs(operatorId: Long): Long = {
    val planned = execution.lastExecution
    planned.watermarkPropagator.getInputWatermarkForEviction(planned.currentBatchId, operatorId)
  }

  /** The batch that is being made now, before it is planned. */
  def nextBatchId: Long = execution.getLatestExecutionContext().batchId

  /** Another object after each batch, once the batch is committed; any thread may ask for it. */
  def committed: AnyRef = execution.committedOffsets

  /** The id of the last batch that was planned in this run, if there was one. */
  def lastPlanned: Option[Long] = Option(execution.lastExecution).map(_.currentBatchId)

  /** Runs the batch that is ending for what its tasks report and write; its results are dropped. */
  def runBatch(): Unit = {
    val ending = execution.lastExecution
    SQLExecution.withNewExecutionId(ending)(ending.toRdd.foreach(_ => ()))
  }

  /** Whether tasks have to say where the state of the batch is: in Spark's second format of it. */
  def namesState: Boolean =
    StatefulOperatorStateInfo.enableStateStoreCheckpointIds(session.sessionState.conf) &&
      execution.lastExecution.executedPlan.exists(_.isInstanceOf[StateStoreWriter])

  private def batchOf(planned: IncrementalExecution): BatchInfo = {
    val offsets = planned.offsetSeqMetadata
    BatchInfo(planned.currentBatchId, offsets.batchTimestampMs, offsets.batchWatermarkMs)
  }

  /** Whether the last batch took all that its sources had, as far as they can say.
    *
    * A source says so when it reports its latest offset, when it is read without a limit, in which
    * case every batch takes all there is, or when there were fewer files than its limit. A source
    * that can do none of these says nothing: None.
    */
  def sourcesCaughtUp(isClock: SparkDataStream => Boolean): Option[Boolean] = {
    val ends = execution.availableOffsets
    val latest = execution.latestOffsets
    val answers = ends.keys.toSeq.filterNot(isClock).map { source =>
      latest.get(source) match {
        case Some(offset) => Some(offset.json == ends(source).json)
        case None => tookAll(source)
      }
    }
    if (answers.contains(None)) None else Some(answers.flatten.forall(identity))
  }

  /** The sources below a watermark node, which are open by now. */
  def streamsBelow(nodeId: UUID): Seq[SparkDataStream] =
    StreamExecutionAccess
      .watermarkNodes(execution.logicalPlan)
      .filter(_.nodeId == nodeId)
      .flatMap(_.collectLeaves())
      .collect { case relation: StreamingDataSourceV2ScanRelation => relation.stream }
      .distinct

  /** Up to where batches have read a source, as it writes it; None before the first. */
  def endOffset(source: SparkDataStream): Option[String] =
    execution.availableOffsets.get(source).map(_.json)

  /** Whether no source had anything for the batch that is ending now. */
  def readNothing(isClock: SparkDataStream => Boolean): Boolean = {
    val starts = execution.getStartOffsetsOfLatestBatch
    execution.availableOffsets.filterNot { case (source, _) => isClock(source) }.forall {
      case (source, end) => starts.get(source).exists(_.json == end.json)
    }
  }

  private def tookAll(source: SparkDataStream): Option[Boolean] = source match {
    case limited: SupportsAdmissionControl =>
      limited.getDefaultReadLimit match {
        case files: ReadMaxFiles => Some(filesOfLastBatch < files.maxFiles)
        case limit => Option.when(limit == ReadLimit.allAvailable)(true)
      }
    case _ => Some(true)
  }

  // Of all sources together: too many at worst, so that one more batch is waited for.
  private def filesOfLastBatch: Int = execution.lastExecution.logical
    .collect {
      case relation: LogicalRelation if relation.isStreaming => relation.relation
    }
    .collect { case files: HadoopFsRelation => files.location.inputFiles.length }
    .sum

  private def tracker = ExecutionAccess.tracker(execution.asInstanceOf[MicroBatchExecution])

  /** The global watermark that Spark would choose if our nodes stood at `ours`. */
  def combined(ours: Long, isOurs: UUID => Boolean): Long = {
    val conf = execution.sparkSessionForStream.sessionState.conf
    val policy = MultipleWatermarkPolicy(conf.getConf(SQLConf.STREAMING_MULTIPLE_WATERMARK_POLICY))
    val nodes = tracker.watermarkMap.map { case (node, value) =>
      if (isOurs(node)) ours else value.getOrElse(0L)
    }
    policy.chooseGlobalWatermark(nodes.toSeq)
  }

  /** 0 before there is one, as for Spark, and in a query that has not opened its sources yet. */
  def watermarkMs: Long = Option(tracker).fold(0L)(_.currentWatermark)

  /** Makes `watermarkMs` the watermark of the batch that is about to be constructed.
    *
    * Legal only inside a source's `latestOffset`: Spark reads the tracker right after it and writes
    * the value to the offset log, so that a batch that is run again has the same. On every trigger
    * Spark may already have simulated that batch with the old value; the simulation is forgotten.
    */
  def raiseWatermark(watermarkMs: Long): Unit = {
    tracker.setWatermark(watermarkMs)
    Option(execution.lastExecution).foreach { last =>
      last.watermarkPropagator.purge(last.currentBatchId + 1)
    }
  }
}

object StreamExecutionAccess {

  /** The run whose execution thread this is; None elsewhere, as in `explain`. */
  def current(session: SparkSession): Option[StreamExecutionAccess] =
    Option(session.sparkContext.getLocalProperty(StreamExecution.QUERY_ID_KEY))
      .flatMap(id => find(session, UUID.fromString(id)))

  /** The run whose sources are being opened on this thread. */
  def starting(): StreamExecutionAccess =
    current(SparkSession.active).getOrElse {
      throw new IllegalStateException("This source works only inside a streaming query.")
    }

  def find(session: SparkSession, id: UUID): Option[StreamExecutionAccess] =
    Option(session.sharedState.activeStreamingQueries.get(id)).collect {
      case execution: MicroBatchExecution => new StreamExecutionAccess(execution)
    }

  /** Where a query, running or stopped, has its checkpoint. */
  def checkpointOf(query: StreamingQuery): String = executionOf(query).resolvedCheckpointRoot

  /** The plan that a query was started with. */
  def planOf(query: StreamingQuery): LogicalPlan = executionOf(query).analyzedPlan

  /** Waits until a query has opened its sources or has ended; throws what it ended by. */
  def awaitSources(query: StreamingQuery): Unit =
    executionOf(query).awaitInitialization(Long.MaxValue)

  private def executionOf(query: StreamingQuery): StreamExecution =
    query.asInstanceOf[StreamingQueryWrapper].streamingQuery

  /** The watermark nodes of a plan, once each: a self-join has the same node on both sides. */
  def watermarkNodes(plan: LogicalPlan): Seq[EventTimeWatermark] =
    plan.collect { case node: EventTimeWatermark => node }.distinctBy(_.nodeId)
}
