package io.eventtide.spark.sql

import java.util.Locale

import org.apache.spark.sql.SparkSessionExtensions
import org.apache.spark.sql.catalyst.FunctionIdentifier
import org.apache.spark.sql.catalyst.expressions.{Expression, ExpressionInfo}
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.classic.SparkSession

import io.eventtide.spark.EventtideException

/** A table function of Eventtide in SQL. */
private[sql] trait TableFunction {
  def name: String

  /** One sentence for `DESCRIBE FUNCTION`. */
  def usage: String

  /** The arguments that need no name, in their order. */
  def positional: Seq[String]

  /** All arguments. */
  def arguments: Seq[String]

  /** The parameters of policies in jars, which are arguments too. A broken jar fails here. */
  def argumentsOfJars: Seq[String] = Nil

  /** The arguments that may be columns, policies or triggers, not only constants. */
  def quoted: Set[String] = Set.empty

  /** The plan of a call, whose arguments have known names. */
  def plan(call: FunctionCall): LogicalPlan

  final def quotes(argument: String): Boolean = quoted(argument.toLowerCase(Locale.ROOT))
}

private[sql] object TableFunction {

  /** The argument with the rows, `TABLE(...)`. */
  val Data = "data"

  /** Refuses an order of the rows, which no watermark and no window uses. */
  def refuseOrder(call: FunctionCall): Unit =
    if (call.table.withSinglePartition || call.table.orderByExpressions.nonEmpty)
      refuse(call, "ORDER BY and WITH SINGLE PARTITION order no window", "a TABLE without them")

  /** Refuses PARTITION BY, which only windows have. */
  def refusePartition(call: FunctionCall, allowed: String): Unit =
    if (call.table.partitionByExpressions.nonEmpty)
      refuse(call, "PARTITION BY is for the keys of windows", allowed)

  private def refuse(call: FunctionCall, reason: String, allowed: String): Nothing =
    throw EventtideException(
      "SQL_TABLE_CLAUSE",
      "option" -> Data,
      "function" -> call.function.name,
      "reason" -> reason,
      "allowed" -> allowed
    )
}

/** Eventtide's table functions, and their registration in a session. */
private[spark] object TableFunctions {
  private[sql] val all: Seq[TableFunction] = Seq(
    WatermarkFunction,
    IngestionTimeFunction,
    WindowFunction,
    OpenWindowsFunction,
    LateFunction,
    CompletenessFunction,
    ProgressFunction,
    BlameFunction,
    CheckpointFunction
  )

  private val byName = all.map(function => function.name -> function).toMap

  /** The function of a name, such as `eventtide_window` or `system.builtin.eventtide_window`. */
  private[sql] def find(parts: Seq[String]): Option[TableFunction] =
    byName.get(parts.last.toLowerCase(Locale.ROOT))

  def install(extensions: SparkSessionExtensions): Unit = {
    extensions.injectPlannerStrategy(session => ReportStrategy(session.asInstanceOf[SparkSession]))
    all.foreach { function =>
      val none = ""
      val info = new ExpressionInfo(
        function.getClass.getName,
        null,
        function.name,
        function.usage,
        s"\n    Arguments:\n      ${function.arguments.mkString(", ")}\n",
        none,
        none,
        "table_funcs",
        none,
        none,
        none
      )
      extensions.injectTableFunction(
        (FunctionIdentifier(function.name), info, args => plan(function, args))
      )
    }
  }

  private def plan(
      function: TableFunction,
      arguments: Seq[Expression]
  ): LogicalPlan = {
    val call = FunctionCall.read(function, arguments)
    call.located {
      val plan = function.plan(call)
      if (call.isStream && !plan.isStreaming)
        throw EventtideException("SQL_NOT_A_STREAM", "function" -> function.name)
      plan
    }
  }
}
