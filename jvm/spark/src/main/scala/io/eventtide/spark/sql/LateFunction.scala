package io.eventtide.spark.sql

import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.classic.DataFrame

import io.eventtide.spark.latelog.LateSource

/** `eventtide_late('/data/checkpoint')`: the late rows of a query as a table, or as a stream: after
  * the word `STREAM`, or with `stream => true` in Spark 4.1, whose grammar does not have that word.
  */
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
    ).collect { case (option, Some(value)) => option -> value }.toMap
    val isStream = call.isStream || call.get("stream").exists(values.flag)
    val rows =
      if (isStream) call.session.readStream.format(LateSource.Name).options(options).load()
      else call.session.read.format(LateSource.Name).options(options).load()
    rows.asInstanceOf[DataFrame].queryExecution.analyzed
  }
}
