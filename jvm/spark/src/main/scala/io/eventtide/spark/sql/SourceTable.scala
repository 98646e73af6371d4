package io.eventtide.spark.sql

import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.classic.DataFrame

/** A data source of Eventtide as a table, or as a stream: after the word `STREAM`, or with
  * `stream => true` in Spark 4.1, whose grammar does not have that word.
  */
private[sql] object SourceTable {

  def read(
      call: FunctionCall,
      format: String,
      options: Seq[(String, Option[String])]
  ): LogicalPlan = {
    val named = options.collect { case (option, Some(value)) => option -> value }.toMap
    val asked = call.get("stream").exists(new ArgumentReader(call.session).flag)
    val rows =
      if (call.isStream || asked) call.session.readStream.format(format).options(named).load()
      else call.session.read.format(format).options(named).load()
    rows.asInstanceOf[DataFrame].queryExecution.analyzed
  }
}
