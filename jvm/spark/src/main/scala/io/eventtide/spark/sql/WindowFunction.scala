package io.eventtide.spark.sql

import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan

import io.eventtide.spark.options.{Setting, SettingsTable}

/** `eventtide_window(TABLE(events), ts, with_fixed_lag('5s'), size => '1m', key_by => device, agg =>
  * 'count(*) AS n')`: the results of windows.
  */
private[sql] object WindowFunction extends TableFunction {
  override def name: String = "eventtide_window"
  override def usage: String =
    s"$name(TABLE(rows), event_time, policy, size => ..., agg => ...) - The results of windows."
  override def positional: Seq[String] = Seq(TableFunction.Data, "event_time", "policy")
  override def quoted: Set[String] =
    WatermarkArguments.Quoted ++ Set(
      TableFunction.Data,
      "key_by",
      "agg",
      "gap",
      "scope",
      "triggers"
    )
  override def arguments: Seq[String] =
    ((TableFunction.Data +: WatermarkArguments.all) ++ Seq("processing_time", "key_by", "agg") ++
      ("length" +: settings.map(_.option))).distinct

  override def argumentsOfJars: Seq[String] = PolicyReader.ofJars

  /** The settings that an argument has. Functions are not for SQL; `StormSizes` has `length`. */
  def settings: Seq[Setting] =
    SettingsTable.window.filterNot { one =>
      one.option.contains('.') || one.option == "result" || one.option == "on_late"
    }

  override def plan(call: FunctionCall): LogicalPlan = {
    TableFunction.refuseOrder(call)
    new WindowArguments(call).request
  }
}
