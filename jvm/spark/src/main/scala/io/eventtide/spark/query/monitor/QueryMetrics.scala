package io.eventtide.spark.query.monitor

import org.apache.spark.sql.eventtide.{MetricsSource, StreamExecutionAccess}
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.streaming.StateOperatorProgress

import io.eventtide.spark.latelog.LateReason

/** A query's metrics for Spark's metric system, enabled by `spark.sql.streaming.metricsEnabled`.
  * Window metrics exist only if the query has windows.
  *
  * An unknown value, such as the watermark before the first row, is NaN. Values are as of the last
  * batch, so that readers do not wait for the query. The lag behind the clock is computed when it
  * is read.
  */
private[query] final class QueryMetrics(query: StreamExecutionAccess, hasWindows: Boolean) {
  @volatile private var last = MetricsSnapshot.None
  private var isThere = false

  private val source = {
    val windowMetrics = if (hasWindows) rowMetrics else Nil
    new MetricsSource(
      query.metricsName,
      watermarkMetrics ++ disorderMetrics ++ refusedMetrics ++ windowMetrics ++ stateMetrics
    )
  }

  /** Takes new values if metrics are enabled. The first values register the source, once the query
    * has opened its sources, so that the end of the query removes it again.
    */
  def publish(numbers: => MetricsSnapshot): Unit = {
    if (!isThere) isThere = isWanted && source.register()
    if (isThere) last = numbers
  }

  private def isWanted: Boolean =
    query.session.sessionState.conf.getConf(SQLConf.STREAMING_METRICS_ENABLED)

  def remove(): Unit = if (isThere) source.remove()

  private def watermarkMetrics: Seq[(String, () => Double)] = Seq(
    "watermark-ms" -> (() => orUnknown(last.report.emittedMicros) / 1000),
    "lag-behindClockMs" -> (() => query.nowMs - orUnknown(last.report.emittedMicros) / 1000),
    "lag-behindLeaderMs" -> (() => spread / 1000),
    "substreams-total" -> (() => last.report.inputs.map(_.count).sum.toDouble),
    "substreams-idle" -> (() => last.report.inputs.map(_.idle).sum.toDouble),
    "restart-held" -> (() => if (last.report.isHolding) 1 else 0)
  )

  // The lag that would have kept a share of the recent rows, of the input that needs the longest one.
  private def disorderMetrics: Seq[(String, () => Double)] =
    Seq(
      "disorder-p50Ms" -> 0.5,
      "disorder-p90Ms" -> 0.9,
      "disorder-p99Ms" -> 0.99,
      "disorder-p99_9Ms" -> 0.999,
      "disorder-maxMs" -> 1.0
    ).map { case (name, share) =>
      name -> (() => orUnknown(disorder.map(_.lagFor(share)).maxOption) / 1000)
    }

  private def disorder: Seq[DisorderReport] = last.report.inputs.flatMap(_.disorder)

  private def spread: Double = {
    val each = last.report.inputs.map(_.spread)
    if (each.isEmpty || each.contains(None)) Double.NaN else each.flatten.max.toDouble
  }

  private def refusedMetrics: Seq[(String, () => Double)] = Seq(
    "rowsLate-future" -> { () =>
      rowsLate(LateReason.Future) + last.report.inputs.map(_.future).sum
    },
    "rowsLate-bad_time" -> { () =>
      rowsLate(LateReason.BadTime) + last.report.inputs.map(_.badTime).sum
    }
  )

  private def rowMetrics: Seq[(String, () => Double)] = {
    val late = (LateReason.tooLate :+ LateReason.BadGap).map { reason =>
      s"rowsLate-${reason.name}" -> (() => rowsLate(reason))
    }
    late :+ ("rows-onTime" -> (() => last.report.counts.onTime.toDouble))
  }

  private def rowsLate(reason: LateReason): Double =
    last.report.counts.late.getOrElse(reason.name, 0L).toDouble

  private def stateMetrics: Seq[(String, () => Double)] = Seq(
    "keys-open" -> (() => orUnknown(last.openKeys)),
    "ledger-bytes" -> (() => last.ledgerBytes.toDouble),
    "state-memoryBytes" -> (() => query.stateOperators.map(_.memoryUsedBytes).sum.toDouble),
    "state-fileBytes" -> (() => query.stateOperators.map(QueryMetrics.fileBytes).sum.toDouble)
  )

  private def orUnknown(number: Option[Long]): Double = number.fold(Double.NaN)(_.toDouble)
}

private[query] object QueryMetrics {

  // Reported by RocksDB; other state stores have no such files.
  private def fileBytes(operator: StateOperatorProgress): Long =
    Option(operator.customMetrics.get("rocksdbSstFileSize")).fold(0L)(_.longValue)
}

/** A snapshot of the values behind a query's metrics. */
private[query] final case class MetricsSnapshot(
    report: WatermarkReport,
    openKeys: Option[Long],
    ledgerBytes: Long
)

private[query] object MetricsSnapshot {
  val None: MetricsSnapshot =
    MetricsSnapshot(WatermarkReport.beforeFirstBatch(0), scala.None, 0)
}
