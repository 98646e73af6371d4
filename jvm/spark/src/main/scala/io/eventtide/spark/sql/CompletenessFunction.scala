package io.eventtide.spark.sql

import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan

import io.eventtide.spark.source.CompletenessSource

/** `eventtide_completeness('/data/checkpoint')`: the closed windows of a query; see `SourceTable`.
  */
private[sql] object CompletenessFunction extends TableFunction {
  override def name: String = "eventtide_completeness"
  override def usage: String =
    s"$name(checkpoint, window) - The closed windows of the query with this checkpoint."
  override def positional: Seq[String] = Seq("checkpoint")
  override def arguments: Seq[String] = Seq("checkpoint", "window", "stream")

  override def plan(call: FunctionCall): LogicalPlan = {
    val values = new ArgumentReader(call.session)
    val options = Seq(
      "checkpoint" -> call.get("checkpoint").map(values.text),
      "window" -> call.get("window").map(values.count)
    )
    SourceTable.read(call, CompletenessSource.Name, options)
  }
}
