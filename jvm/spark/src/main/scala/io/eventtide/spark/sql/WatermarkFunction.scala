package io.eventtide.spark.sql

import org.apache.spark.sql.Column
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan

import io.eventtide.spark.options.{OptionReader, SettingsTable}
import io.eventtide.spark.planning.RequestBuilder

/** `eventtide_watermark(TABLE(events), 'ts', 'with_fixed_lag', lag => '5s')`: the rows, with a
  * watermark.
  */
private[sql] object WatermarkFunction extends TableFunction {
  override def name: String = "eventtide_watermark"
  override def usage: String =
    s"$name(TABLE(rows), event_time, policy, ...) - The rows with the watermark of a policy."
  override def positional: Seq[String] = Seq(TableFunction.Data, "event_time", "policy")
  override def quoted: Set[String] = WatermarkArguments.Quoted + TableFunction.Data
  override def arguments: Seq[String] = TableFunction.Data +: WatermarkArguments.all
  override def argumentsOfJars: Seq[String] = PolicyReader.ofJars

  override def plan(call: FunctionCall): LogicalPlan = {
    TableFunction.refuseOrder(call)
    TableFunction.refusePartition(call, "substream => device")
    val watermark = new WatermarkArguments(call)
    val time = watermark.eventTime.getOrElse(OptionReader.missing("event_time", "a column"))
    val options = watermark.options
    if (options.isEmpty) OptionReader.missing("policy", "a policy, such as with_fixed_lag('5s')")
    call.request(
      RequestBuilder.options("with_watermark", Map("event_time" -> time), options),
      Map("substream" -> watermark.substream),
      call.table.plan,
      call.id
    )
  }
}

/** The arguments of a watermark. */
private[sql] final class WatermarkArguments(call: FunctionCall) {
  private val lists = new ExpressionList(call.session)

  def eventTime: Option[String] = call.get("event_time").map(ColumnName.of(_, lists))

  def substream: Seq[Column] = call.get("substream").toSeq.flatMap(lists.columns)

  /** The options of the watermark; empty without a policy. */
  def options: Map[String, String] = {
    val policy = new PolicyReader(call).options
    val others = new SettingReader(call).options(SettingsTable.watermark)
    if (policy.isEmpty)
      (SettingsTable.watermark.map(_.option) :+ "substream").flatMap(call.get).headOption.foreach {
        of => OptionReader.missing("policy", s"a policy, because ${of.name} belongs to it")
      }
    policy ++ others
  }
}

private[sql] object WatermarkArguments {
  val Quoted: Set[String] = Set("event_time", "policy", "substream", "decorators")

  def all: Seq[String] =
    Seq("event_time", "policy", "decorators", "substream") ++
      SettingsTable.watermark.map(_.option) ++ PolicyReader.BuiltIn
}
