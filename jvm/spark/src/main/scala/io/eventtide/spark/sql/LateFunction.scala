package io.eventtide.spark.sql

import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan

import io.eventtide.spark.latelog.LateSource

/** `eventtide_late('/data/checkpoint')`: the late rows of a query; see `SourceTable`. */
private[sql] object LateFunction extends TableFunction {
  override def name: String = "eventtide_late"
  override def usage: String =
    s"$name(checkpoint, window, missing) - The late rows of the query with this checkpoint."
  override def positional: Seq[String] = Seq("checkpoint")
  override def arguments: Seq[String] =
    Seq("checkpoint", "window", "missing", "stream", "max_batches_per_trigger")

  override def plan(call: FunctionCall): LogicalPlan = {
    val values = new ArgumentReader(call.session)
    val options = Seq(
      "checkpoint" -> call.get("checkpoint").map(values.text),
      "window" -> call.get("window").map(values.count),
      "missing" -> call.get("missing").map(values.text),
      "maxBatchesPerTrigger" -> call.get("max_batches_per_trigger").map(values.count)
    )
    SourceTable.read(call, LateSource.Name, options)
  }
}
