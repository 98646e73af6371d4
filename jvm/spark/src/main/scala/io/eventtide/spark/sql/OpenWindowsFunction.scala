package io.eventtide.spark.sql

import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.eventtide.SparkInternals

import io.eventtide.spark.EventtideException
import io.eventtide.spark.planning.{WindowAggregate, WindowState}

/** `eventtide_open_windows(TABLE(minutes), '/data/checkpoint')`: the present results of the windows
  * that have not closed. `minutes` is a view of the window.
  */
private[sql] object OpenWindowsFunction extends TableFunction {
  override def name: String = "eventtide_open_windows"
  override def usage: String =
    s"$name(TABLE(results), checkpoint) - The open windows in a checkpoint, as if they closed now."
  override def positional: Seq[String] = Seq(TableFunction.Data, "checkpoint")
  override def arguments: Seq[String] = positional
  override def quoted: Set[String] = Set(TableFunction.Data)

  override def plan(call: FunctionCall): LogicalPlan = {
    TableFunction.refuseOrder(call)
    TableFunction.refusePartition(call, "a TABLE without PARTITION BY")
    val checkpoint = call.required("checkpoint", "the checkpoint location of the window's query")
    val results = SparkInternals.dataFrame(call.session, call.table.plan)
    if (WindowAggregate.allIn(results.queryExecution.analyzed).isEmpty)
      throw EventtideException("SQL_WITHOUT_WINDOW", "option" -> TableFunction.Data)
    val path = new ArgumentReader(call.session).text(checkpoint)
    WindowState.read(results, path).queryExecution.analyzed
  }
}
