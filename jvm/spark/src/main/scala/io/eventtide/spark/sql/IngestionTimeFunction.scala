package io.eventtide.spark.sql

import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan

import io.eventtide.kernel.watermark.WithIngestionTime
import io.eventtide.spark.planning.RequestBuilder

/** `eventtide_ingestion_time(TABLE(events))`: the rows and the time of their batch. */
private[sql] object IngestionTimeFunction extends TableFunction {
  override def name: String = "eventtide_ingestion_time"
  override def usage: String =
    s"$name(TABLE(rows), into) - The rows with their ingestion time, for which no row is late."
  override def positional: Seq[String] = Seq(TableFunction.Data, "into")
  override def quoted: Set[String] = Set(TableFunction.Data, "into", "decorators")
  override def arguments: Seq[String] = Seq(TableFunction.Data, "into", "decorators")

  /** The policy of the watermark, which is the only possible one. */
  val Policy: Map[String, String] = Map("policy" -> WithIngestionTime.name)

  override def plan(call: FunctionCall): LogicalPlan = {
    TableFunction.refuseOrder(call)
    TableFunction.refusePartition(call, "a TABLE without PARTITION BY")
    val lists = new ExpressionList(call.session)
    val into = call.get("into").fold("ingested_at")(ColumnName.of(_, lists))
    val decorators = new PolicyReader(call).decorators
    call.request(
      RequestBuilder.options("with_ingestion_time", Map("into" -> into), Policy ++ decorators),
      Map.empty,
      call.table.plan,
      call.id
    )
  }
}
