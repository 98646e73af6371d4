package io.eventtide.spark.query

import org.apache.spark.sql.eventtide.{MetricsSource, RunningQuery}
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.streaming.StateOperatorProgress

import io.eventtide.spark.late.LateReason

/** A query's numbers for Spark's metric system, as `spark.sql.streaming.metricsEnabled` wants them.
  *
  * One that is not known, as the watermark before the first row, is not a number (NaN). What a batch
  * decides is as of the last batch; the lag behind the clock is as of now.
  */
private[query] final class QueryMetrics(query: RunningQuery, watermark: QueryWatermark) {
  private var last = Option.empty[FinishedBatch]
  private var lastReport = WatermarkReport.beforeFirstBatch(0)

  private val source = new MetricsSource(query.metricsName, ofWatermark ++ ofRows ++ ofState)

  def register(): Unit =
    if (query.session.sessionState.conf.getConf(SQLConf.STREAMING_METRICS_ENABLED)) {
      source.register()
    }

  def remove(): Unit = source.remove()

  // Once a batch, however many numbers are asked for.
  private def report: WatermarkReport = synchronized {
    val finished = watermark.lastFinished
    if (finished.isEmpty || !finished.exists(now => last.exists(_ eq now))) {
      last = finished
      lastReport = watermark.report
    }
    lastReport
  }

  private def ofWatermark: Seq[(String, () => Double)] = Seq(
    "watermark-ms" -> (() => orUnknown(report.emittedMicros) / 1000),
    "lag-behindClockMs" -> (() => query.nowMs - orUnknown(report.emittedMicros) / 1000),
    "lag-behindLeaderMs" -> (() => orUnknown(report.inputs.flatMap(_.spread).maxOption) / 1000),
    "substreams-total" -> (() => report.inputs.map(_.count).sum.toDouble),
    "substreams-idle" -> (() => report.inputs.map(_.idle).sum.toDouble),
    "restart-held" -> (() => if (report.holding) 1 else 0)
  )

  private def ofRows: Seq[(String, () => Double)] = {
    val late = Seq(LateReason.BehindWatermark, LateReason.FrameClosed, LateReason.WindowClosed)
    val byReason = late.map(reason => s"rowsLate-${reason.name}" -> (() => rowsLate(reason)))
    byReason ++ Seq(
      "rowsLate-future" -> { () =>
        rowsLate(LateReason.Future) + report.inputs.map(_.future).sum
      },
      "rowsLate-bad_time" -> { () =>
        rowsLate(LateReason.BadTime) + report.inputs.map(_.badTime).sum
      },
      "rows-onTime" -> (() => report.late.onTime.toDouble)
    )
  }

  private def rowsLate(reason: LateReason): Double =
    report.late.total.getOrElse(reason.name, 0L).toDouble

  private def ofState: Seq[(String, () => Double)] = Seq(
    "keys-open" -> (() => watermark.openKeys.toDouble),
    "ledger-bytes" -> (() => watermark.ledgerBytes.toDouble),
    "state-memoryBytes" -> (() => query.stateOperators.map(_.memoryUsedBytes).sum.toDouble),
    "state-fileBytes" -> (() => query.stateOperators.map(QueryMetrics.fileBytes).sum.toDouble)
  )

  private def orUnknown(micros: Option[Long]): Double = micros.fold(Double.NaN)(_.toDouble)
}

private object QueryMetrics {

  // Of RocksDB; another store has no files of its own.
  private def fileBytes(operator: StateOperatorProgress): Long =
    Option(operator.customMetrics.get("rocksdbSstFileSize")).fold(0L)(_.longValue)
}
