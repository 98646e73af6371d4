package org.apache.spark.sql.eventtide

import java.util.UUID

import scala.jdk.CollectionConverters._

import org.apache.hadoop.fs.Path
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
import org.apache.spark.sql.execution.streaming.RealTimeTrigger
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

/** A micro-batch, as recorded in the offset log; a replayed batch has the same values. */
final case class BatchInfo(batchId: Long, timestampMs: Long, watermarkMs: Long)

/** One run of a streaming query, used on its execution thread.
  *
  * All of Eventtide's access to `StreamExecution` is here, so that a new Spark release affects one
  * place.
  */
final class StreamExecutionAccess private (execution: StreamExecution) {

  def id: UUID = execution.id
  def runId: UUID = execution.runId
  def isActive: Boolean = execution.isActive

  /** The error that ended the run, if any. It is available before listeners are notified. */
  def failure: Option[StreamingQueryException] = execution.exception

  /** The name of the query's metrics source; no other query's name begins with it. */
  def metricsName: String =
    s"eventtide.${Option(execution.name).getOrElse(id.toString).replace('.', '_')}.query"

  /** The state metrics of the last progress report; empty before the first one. */
  def stateOperators: Seq[StateOperatorProgress] =
    Option(execution.lastProgress).fold(Seq.empty[StateOperatorProgress])(_.stateOperators.toSeq)

  /** The label of the query in messages: its name, or its id if it has no name. */
  def label: String = Option(execution.name).fold(s"query $id")(name => s"query '$name'")

  /** Whether a caller waits until the query is idle, as in `processAllAvailable`. */
  def isAwaited: Boolean = ExecutionAccess.isAwaited(execution)

  /** The query's session, with the settings that the user's session had when the query was started.
    */
  def session: SparkSession = execution.sparkSessionForStream

  /** The id of the user's session, which has started the query. */
  def owner: String = execution.sparkSession.sessionUUID

  def name: Option[String] = Option(execution.name)

  /** The run as a query. */
  def asQuery: StreamingQuery = execution

  /** Whether the query runs in real-time mode. */
  def isRealTime: Boolean = execution.trigger.isInstanceOf[RealTimeTrigger]

  def checkpointRoot: String = execution.resolvedCheckpointRoot
  def analyzedPlan: LogicalPlan = execution.analyzedPlan
  def nowMs: Long = execution.triggerClock.getTimeMillis()

  /** The time of a monotonic clock, in milliseconds; only differences are meaningful. */
  def elapsedMs: Long = execution.triggerClock match {
    case scripted: TestClock => scripted.elapsedMs
    case _: SystemClock => System.nanoTime() / 1000000
    case other => other.getTimeMillis()
  }

  /** The batch that is being planned or run. */
  def batch: BatchInfo = batchOf(execution.lastExecution)

  /** The state location of an operator in the current batch; the caller chooses the operator id. */
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

  /** Replaces the ids of the state store checkpoints that an operator reads in the next batch.
    * Spark compares them with the ids that the tasks have read.
    */
  def replaceStateIds(operatorId: Long, ids: Array[Array[String]]): Unit =
    execution.lastExecution.currentStateStoreCkptId.put(operatorId, ids): Unit

  /** The watermark below which an operator's input rows are late in this batch; 0 for none. */
  def lateWatermarkMs(operatorId: Long): Long = {
    val planned = execution.lastExecution
    planned.watermarkPropagator.getInputWatermarkForLateEvents(planned.currentBatchId, operatorId)
  }

  /** The watermark up to which an operator closes windows in this batch; 0 for none. */
  def closingWatermarkMs(operatorId: Long): Long = {
    val planned = execution.lastExecution
    planned.watermarkPropagator.getInputWatermarkForEviction(planned.currentBatchId, operatorId)
  }

  /** The id of the batch that is being constructed, before it is planned. */
  def nextBatchId: Long = execution.getLatestExecutionContext().batchId

  /** An object that is replaced when a batch is committed; any thread may read it. */
  def committed: AnyRef = execution.committedOffsets

  /** The id of the last batch that was planned in this run, if any. */
  def lastPlanned: Option[Long] = Option(execution.lastExecution).map(_.currentBatchId)

  /** Runs the current batch only for the reports and writes of its tasks; its results are dropped.
    */
  def runBatch(): Unit = {
    val ending = execution.lastExecution
    SQLExecution.withNewExecutionId(ending)(ending.toRdd.foreach(_ => ()))
  }

  /** Whether tasks must report the ids of their state checkpoints: in checkpoint format version 2.
    */
  def namesState: Boolean =
    StatefulOperatorStateInfo.enableStateStoreCheckpointIds(session.sessionState.conf) &&
      execution.lastExecution.executedPlan.exists(_.isInstanceOf[StateStoreWriter])

  private def batchOf(planned: IncrementalExecution): BatchInfo = {
    val offsets = planned.offsetSeqMetadata
    BatchInfo(planned.currentBatchId, offsets.batchTimestampMs, offsets.batchWatermarkMs)
  }

  /** Whether the last batch read all available data of its sources; None if a source cannot report
    * it.
    *
    * There are three ways to find out: the source reports its latest offset; the source has no read
    * limit, so that every batch reads all available data; or the batch had fewer files than the
    * limit. In real-time mode rows arrive during the batch, and the offsets are those of its start.
    */
  def sourcesCaughtUp(isClock: SparkDataStream => Boolean): Option[Boolean] = {
    val ends = if (isRealTime) execution.committedOffsets else execution.availableOffsets
    val latest = execution.latestOffsets
    val answers = ends.keys.toSeq.filterNot(isClock).map { source =>
      latest.get(source) match {
        case Some(offset) => Some(OffsetOrder.hasReached(ends(source).json, offset.json))
        case None => tookAll(source)
      }
    }
    if (answers.contains(None)) None else Some(answers.flatten.forall(identity))
  }

  /** The sources below a watermark node, which are already open. */
  def streamsBelow(nodeId: UUID): Seq[SparkDataStream] =
    StreamExecutionAccess
      .watermarkNodes(execution.logicalPlan)
      .filter(_.nodeId == nodeId)
      .flatMap(_.collectLeaves())
      .collect { case relation: StreamingDataSourceV2ScanRelation => relation.stream }
      .distinct

  /** The end offset of a source in the last batch, as JSON; None before the first batch. */
  def endOffset(source: SparkDataStream): Option[String] =
    execution.availableOffsets.get(source).map(_.json)

  /** The offset of a source at which a batch of real-time mode begins, as JSON; None if the source
    * has not been read yet.
    */
  def beginOffset(source: SparkDataStream): Option[String] =
    execution.committedOffsets.get(source).map(_.json)

  /** Whether no source had data for the current batch. */
  def readNothing(isClock: SparkDataStream => Boolean): Boolean = {
    val starts = execution.getStartOffsetsOfLatestBatch
    execution.availableOffsets.filterNot { case (source, _) => isClock(source) }.forall {
      case (source, end) => starts.get(source).exists(_.json == end.json)
    }
  }

  private def tookAll(source: SparkDataStream): Option[Boolean] = source match {
    case limited: SupportsAdmissionControl =>
      limited.getDefaultReadLimit match {
        case files: ReadMaxFiles => Some(lastBatchFiles < files.maxFiles)
        case limit => Option.when(limit == ReadLimit.allAvailable)(true)
      }
    case _ => Some(true)
  }

  // Counts the files of all sources. The number may be too high, which only delays the result by a
  // batch.
  private def lastBatchFiles: Int = execution.lastExecution.logical
    .collect {
      case relation: LogicalRelation if relation.isStreaming => relation.relation
    }
    .collect { case files: HadoopFsRelation => files.location.inputFiles.length }
    .sum

  private def tracker = ExecutionAccess.tracker(execution.asInstanceOf[MicroBatchExecution])

  /** The global watermark that Spark would choose if Eventtide's nodes were at `ours`. */
  def combined(ours: Long, isOurs: UUID => Boolean): Long = {
    val conf = execution.sparkSessionForStream.sessionState.conf
    val policy = MultipleWatermarkPolicy(conf.getConf(SQLConf.STREAMING_MULTIPLE_WATERMARK_POLICY))
    val nodes = tracker.watermarkMap.map { case (node, value) =>
      if (isOurs(node)) ours else value.getOrElse(0L)
    }
    policy.chooseGlobalWatermark(nodes.toSeq)
  }

  /** The watermark in milliseconds. As in Spark it is 0 before the first watermark; it is also 0
    * before the query has opened its sources.
    */
  def watermarkMs: Long = Option(tracker).fold(0L)(_.currentWatermark)

  /** Makes `watermarkMs` the watermark of the batch that is about to be constructed.
    *
    * Call it only inside a source's `latestOffset`. Spark reads the tracker right after that call
    * and writes the value to the offset log, so that a replayed batch has the same watermark. On
    * every trigger Spark may already have simulated that batch with the old value; the simulation
    * is purged.
    */
  def raiseWatermark(watermarkMs: Long): Unit = {
    tracker.setWatermark(watermarkMs)
    Option(execution.lastExecution).foreach { last =>
      last.watermarkPropagator.purge(last.currentBatchId + 1)
    }
  }
}

object StreamExecutionAccess {

  /** The run of the current execution thread; None on other threads, as in `explain`. */
  def current(session: SparkSession): Option[StreamExecutionAccess] =
    Option(session.sparkContext.getLocalProperty(StreamExecution.QUERY_ID_KEY))
      .flatMap(id => find(session, UUID.fromString(id)))

  /** The run whose sources are being opened on the current thread. */
  def starting(): StreamExecutionAccess =
    current(SparkSession.active).getOrElse {
      throw new IllegalStateException("This source works only inside a streaming query.")
    }

  def find(session: SparkSession, id: UUID): Option[StreamExecutionAccess] =
    Option(session.sharedState.activeStreamingQueries.get(id)).collect {
      case execution: MicroBatchExecution => new StreamExecutionAccess(execution)
    }

  /** Whether a query of this application uses a checkpoint. */
  def isRunning(session: SparkSession, checkpoint: Path): Boolean =
    session.sharedState.activeStreamingQueries.values.asScala.exists { execution =>
      new Path(execution.resolvedCheckpointRoot) == checkpoint
    }

  /** The checkpoint location of a running or stopped query. */
  def checkpointOf(query: StreamingQuery): String = executionOf(query).resolvedCheckpointRoot

  /** The id of the user's session, which has started a query. */
  def ownerOf(query: StreamingQuery): String = executionOf(query).sparkSession.sessionUUID

  /** The plan that a query was started with. */
  def planOf(query: StreamingQuery): LogicalPlan = executionOf(query).analyzedPlan

  /** Waits until a query has opened its sources or has ended; throws the error that ended it. */
  def awaitSources(query: StreamingQuery): Unit =
    executionOf(query).awaitInitialization(Long.MaxValue)

  private def executionOf(query: StreamingQuery): StreamExecution = query match {
    case followed: FollowedStreamingQuery => executionOf(followed.main)
    case execution: StreamExecution => execution
    case plain => plain.asInstanceOf[StreamingQueryWrapper].streamingQuery
  }

  /** The watermark nodes of a plan without duplicates: a self-join has the same node on both sides.
    */
  def watermarkNodes(plan: LogicalPlan): Seq[EventTimeWatermark] =
    plan.collect { case node: EventTimeWatermark => node }.distinctBy(_.nodeId)
}
