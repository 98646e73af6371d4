package io.eventtide.spark.query

import java.util.concurrent.ConcurrentHashMap
import java.util.{Collections, LinkedHashMap, UUID}

import org.apache.hadoop.fs.Path
import org.apache.spark.sql.eventtide.RunningQuery
import org.apache.spark.sql.internal.SQLConf

import io.eventtide.spark.plan.{PlanChecks, PolicyWatermark}

/** The queries of this driver that have an Eventtide watermark, by run.
  *
  * Two queries from one DataFrame share Spark's node ids, and a restarted one is another run: only
  * the run id names live state.
  */
private[spark] object QueryWatermarks {
  private val running = new ConcurrentHashMap[UUID, QueryWatermark]

  // What queries that have stopped reported last, so that it can still be asked for.
  private val KeptReports = 20
  private val stopped = Collections.synchronizedMap(new LinkedHashMap[UUID, WatermarkReport] {
    override def removeEldestEntry(eldest: java.util.Map.Entry[UUID, WatermarkReport]): Boolean =
      size > KeptReports
  })

  /** Finds or makes the watermark of a run, on the thread of the query, before its first offset. */
  def attach(query: RunningQuery): QueryWatermark = {
    // A run that failed before its clock was opened never stops it.
    running.values.removeIf(!_.isActive): Unit
    running.computeIfAbsent(query.runId, _ => open(query))
  }

  private def open(query: RunningQuery): QueryWatermark = {
    PlanChecks.oneWatermarkEach(query.analyzedPlan)
    val nodes = RunningQuery.watermarkNodes(query.analyzedPlan).collect {
      case node: PolicyWatermark => node
    }
    val conf = query.session.sessionState.newHadoopConf()
    val root = new Path(query.checkpointRoot)
    new PlanFile(root, conf).check(nodes.map(_.settings.structure))
    val retain = query.session.sessionState.conf.getConf(SQLConf.MIN_BATCHES_TO_RETAIN)
    val inputs = nodes.map(node => new QueryInput(node.nodeId, node.settings)).toIndexedSeq
    new QueryWatermark(query, new QueryInputs(inputs), new BatchLedger(root, retain, conf))
  }

  def plannedBatch(query: RunningQuery): Option[BatchWatermark] =
    Option(running.get(query.runId)).map(_.planned(query.batch))

  def detach(watermark: QueryWatermark): Unit = {
    running.remove(watermark.runId)
    stopped.put(watermark.queryId, watermark.report)
  }

  /** What a query, running or stopped in this driver, reported for its last batch. */
  def report(query: UUID): Option[WatermarkReport] =
    running.values.stream
      .filter(_.queryId == query)
      .findFirst
      .map[Option[WatermarkReport]](watermark => Some(watermark.report))
      .orElse(Option(stopped.get(query)))
}
