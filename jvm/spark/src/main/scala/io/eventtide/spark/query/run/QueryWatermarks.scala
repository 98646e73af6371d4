package io.eventtide.spark.query.run

import java.lang.ref.SoftReference
import java.util.UUID
import java.util.concurrent.ConcurrentHashMap
import java.util.concurrent.atomic.AtomicLong

import scala.jdk.CollectionConverters._
import scala.util.Try

import org.apache.spark.sql.classic.SparkSession
import org.apache.spark.sql.eventtide.{SparkInternals, StreamExecutionAccess}

import io.eventtide.spark.options.WatermarkSettings
import io.eventtide.spark.query.monitor.{BatchPoint, InputReport, WatermarkReport}
import io.eventtide.spark.spi.PlanNodes

/** The queries of this driver that have an Eventtide watermark, by run.
  *
  * Two queries from one DataFrame share Spark's node ids, and a restarted query is another run. So
  * only the run id identifies live state.
  *
  * Sessions of one driver may belong to different users. So a query is shown to the session that
  * started it only, for which `report` is the one check.
  */
private[spark] object QueryWatermarks {
  private val running = new ConcurrentHashMap[UUID, QueryWatermark]

  // The last reports of the queries that have stopped last, available while memory permits.
  private val stopped = new ConcurrentHashMap[(String, UUID), StoppedQuery]
  private val stops = new AtomicLong
  private val MostStopped = 100 // as many as Spark's UI shows of stopped queries

  private final class StoppedQuery(val name: Option[String], last: ShownQuery) {
    val number: Long = stops.incrementAndGet()
    private val kept = new SoftReference(last)
    def shown: Option[ShownQuery] = Option(kept.get)
    def report: Option[WatermarkReport] = shown.flatMap(_.report)
  }

  /** The queries of this driver, running and stopped, of all sessions: for Spark's UI. */
  def all: Seq[ShownQuery] = {
    val now = running.values.asScala.toSeq.filter(_.isActive)
    now.map(ShownQuery.running) ++
      stopped.values.asScala.flatMap(_.shown)
  }

  /** A query that has stopped, by its run. */
  def lastOf(run: UUID): Option[ShownQuery] =
    stopped.values.asScala.flatMap(_.shown).find(_.runId == run)

  def isRunning(run: UUID): Boolean = Option(running.get(run)).exists(_.isActive)

  /** Finds or creates the watermark of a run, on the query's thread, before its first offset. */
  def attach(query: StreamExecutionAccess): QueryWatermark = {
    // The source detaches a run, but not if the run failed before all of its sources had opened.
    running.values.asScala.filterNot(_.isActive).foreach { failed =>
      if (running.remove(failed.runId, failed)) failed.close()
    }
    Option(running.get(query.runId)).getOrElse {
      // Not in `computeIfAbsent`, which could block other entries.
      val opened = new QueryWatermark(new RunStart(query).open())
      running.put(query.runId, opened)
      opened
    }
  }

  /** The batch that a node is planned for. None for a node of another query, which may be planned
    * on this query's thread, as in `foreachBatch`.
    */
  def plannedBatch(query: StreamExecutionAccess, nodeId: UUID): Option[BatchWatermark] =
    Option(running.get(query.runId)).filter(_.has(nodeId)).map(_.planned(query.batch))

  /** The run of the query on whose thread this is called; None elsewhere. */
  def current(session: SparkSession): Option[QueryWatermark] =
    StreamExecutionAccess.current(session).flatMap(query => Option(running.get(query.runId)))

  /** The settings of a node's input in the first run of the batch that is being planned. */
  def begunSettings(query: StreamExecutionAccess, nodeId: UUID): Option[WatermarkSettings] =
    Option(running.get(query.runId)).filter(_.has(nodeId)).flatMap { watermark =>
      watermark.planned(query.batch)
      watermark.settingsOf(nodeId)
    }

  def detach(watermark: QueryWatermark): Unit =
    try {
      watermark.nameConflict()
      watermark.close()
      stopped.values.removeIf(_.report.isEmpty)
      val report = watermark.report
      // A stopped run does not pause its clock, which closes nothing more.
      val last = report.copy(isHolding = false, outlook = report.outlook.atEnd)
      val shown = ShownQuery.stopped(watermark, last)
      stopped.put(
        (watermark.owner, watermark.queryId),
        new StoppedQuery(watermark.name, shown)
      ): Unit
      forgetStopped()
    } finally running.remove(watermark.runId): Unit // last: a report is found at each moment

  private def forgetStopped(): Unit =
    stopped.asScala.toSeq.sortBy(-_._2.number).drop(MostStopped).foreach { case (key, query) =>
      stopped.remove(key, query)
    }

  /** The report of a query's last batch, for a query that runs or has stopped in this driver. None
    * for a query without a watermark, and for a query of another session.
    */
  def report(session: SparkSession, query: UUID): Option[WatermarkReport] = {
    val asks = SparkInternals.sessionId(session)
    // Another session may have restarted the query from its checkpoint.
    running.values.asScala
      .find(run => run.queryId == query && run.owner == asks)
      .map(_.report)
      .orElse(last(asks, query))
      .orElse(starting(session, query))
  }

  /** The id of a query of a session, by its name or its id. A name means the running query, or else
    * the one that has stopped last.
    */
  def find(session: SparkSession, query: String): Option[UUID] = {
    val named = session.streams.active.find(_.name == query).map(_.id)
    named.orElse(ended(session, query)).orElse(Try(UUID.fromString(query)).toOption)
  }

  private def ended(session: SparkSession, name: String): Option[UUID] = {
    val own = SparkInternals.sessionId(session)
    stopped.asScala.toSeq
      .filter { case ((owner, _), kept) => owner == own && kept.name.contains(name) }
      .maxByOption { case (_, kept) => kept.report.fold(Long.MinValue)(_.clockMicros) }
      .map { case ((_, id), _) => id }
  }

  private def last(asks: String, query: UUID): Option[WatermarkReport] =
    Option(stopped.get((asks, query))).flatMap(_.report)

  // For a query that has not opened its sources yet.
  private def starting(session: SparkSession, query: UUID): Option[WatermarkReport] =
    StreamExecutionAccess
      .find(session, query)
      .filter(_.owner == SparkInternals.sessionId(session))
      .filter(run => PlanNodes.watermarks(run.analyzedPlan).nonEmpty)
      .map(run => WatermarkReport.beforeFirstBatch(run.nowMs * 1000))
}

/** A query as Spark's UI shows it.
  *
  * @param points
  *   its last batches
  * @param find
  *   finds the substreams of an input by a part of their names, while the query runs
  */
private[query] final case class ShownQuery(
    runId: UUID,
    title: String,
    isRunning: Boolean,
    points: Seq[BatchPoint],
    report: Option[WatermarkReport],
    find: (Int, String) => Option[InputReport] = (_, _) => None
)

private[run] object ShownQuery {
  def running(run: QueryWatermark): ShownQuery =
    ShownQuery(run.runId, run.title, true, run.points, Some(run.report), run.find)

  def stopped(run: QueryWatermark, last: WatermarkReport): ShownQuery =
    ShownQuery(run.runId, run.title, false, run.points, Some(last))
}
