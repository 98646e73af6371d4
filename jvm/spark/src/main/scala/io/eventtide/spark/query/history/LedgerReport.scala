package io.eventtide.spark.query.history

import java.util.UUID

import io.eventtide.spark.checkpoint.LedgerEntry
import io.eventtide.spark.latelog.LateCounts
import io.eventtide.spark.options.{WatermarkSettings, WatermarkSettingsJson}
import io.eventtide.spark.query.monitor.{Outlook, WatermarkReport}
import io.eventtide.spark.query.run.QueryInputs

/** What the ledger says about the watermarks of a query after a batch. */
private[query] object LedgerReport {

  /** The settings of each input in the run that wrote the entries. */
  def settingsOf(entries: Seq[LedgerEntry]): Seq[WatermarkSettings] =
    entries.head.settings.map(WatermarkSettingsJson.read)

  /** @param entries
    *   a full entry and the entries after it, up to that of the batch
    * @param clockMicros
    *   the time of the batch
    */
  def of(
      entries: Seq[LedgerEntry],
      settings: Seq[WatermarkSettings],
      clockMicros: Long,
      outlook: Outlook = Outlook.None
  ): WatermarkReport = {
    val inputs = QueryInputs.of(settings.map(new UUID(0, 0) -> _), curveRows = Some(1))
    inputs.restore(entries)
    val last = entries.last
    WatermarkReport(
      last.batchId,
      clockMicros,
      inputs.ideal,
      inputs.emitted,
      last.isHolding,
      LateCounts(last.late.rows, last.rowsOnTime),
      inputs.report(Map.empty),
      last.clock,
      outlook
    )
  }
}
