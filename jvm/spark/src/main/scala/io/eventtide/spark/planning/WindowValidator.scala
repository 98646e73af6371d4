package io.eventtide.spark.planning

import scala.util.Try

import org.apache.spark.sql.catalyst.expressions.PythonUDF.isScalarPythonUDF
import org.apache.spark.sql.catalyst.expressions.aggregate.AggregateExpression
import org.apache.spark.sql.catalyst.expressions.{
  Alias,
  Expression,
  Literal,
  NamedExpression,
  PythonUDAF
}
import org.apache.spark.sql.catalyst.plans.logical.{Aggregate, LogicalPlan, Project}
import org.apache.spark.sql.catalyst.util.{UnsafeRowUtils, toPrettySQL}
import org.apache.spark.sql.classic.DataFrame
import org.apache.spark.sql.functions.{count, lit}
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.{AnalysisException, Column}

import io.eventtide.spark.EventtideException

/** Rejects invalid keys, aggregates and results of a window. */
private[spark] object WindowValidator {

  /** The Spark aggregation of keys and aggregates, if all of them are valid.
    *
    * Spark reports some of these errors only when the query runs, with the names of its classes.
    * Other errors it does not report at all.
    */
  def aggregation(stream: DataFrame, keys: Seq[Column], aggregates: Seq[Column]): Aggregate = {
    val grouped = resolved(stream, keys, aggregates)
    val (named, values) =
      grouped.aggregateExpressions.splitAt(grouped.aggregateExpressions.length - aggregates.length)
    checkChild(stream, grouped, named)
    named.foreach(checkKey)
    values.foreach(checkAggregate)
    grouped
  }

  private def resolved(
      stream: DataFrame,
      keys: Seq[Column],
      aggregates: Seq[Column]
  ): Aggregate = {
    def refuse(condition: String, reason: String): Nothing = {
      val available = stream.columns.mkString(", ")
      throw EventtideException(condition, "reason" -> reason, "available" -> available)
    }
    val plan =
      try analyzed(stream, keys, aggregates)
      catch {
        case reason: AnalysisException =>
          if (NotAggregated(reason.getCondition))
            notAggregated(stream, keys, aggregates).foreach { column =>
              throw EventtideException("NOT_AN_AGGREGATE", "column" -> column)
            }
          val unknown = reason.getCondition.startsWith("UNRESOLVED_COLUMN")
          val condition = if (unknown) "WINDOW_COLUMN_UNKNOWN" else "WINDOW_UNRESOLVED"
          refuse(condition, reason.getMessage.linesIterator.next())
      }
    plan match {
      case aggregate: Aggregate => aggregate
      case _ => refuse("WINDOW_UNRESOLVED", "it is not an aggregation.")
    }
  }

  private def analyzed(stream: DataFrame, keys: Seq[Column], columns: Seq[Column]): LogicalPlan =
    stream.groupBy(keys: _*).agg(columns.head, columns.tail: _*).queryExecution.analyzed

  // Spark's advice, a GROUP BY clause or any_value, is not for windows.
  private val NotAggregated = Set("MISSING_GROUP_BY", "MISSING_AGGREGATION")

  // None if the keys are invalid. Spark names the column only if there is a key.
  private def notAggregated(
      stream: DataFrame,
      keys: Seq[Column],
      aggregates: Seq[Column]
  ): Option[String] =
    for {
      _ <- Try(analyzed(stream, keys, Seq(count(lit(1))))).toOption
      error <- Try(analyzed(stream, keys :+ lit(""), aggregates)).failed.toOption
      reason <- Some(error).collect { case reason: AnalysisException => reason }
      column <- Option(reason.getMessageParameters.get("expression"))
    } yield column.stripPrefix("\"").stripSuffix("\"")

  // Spark moves expressions that an aggregation cannot compute, and hidden columns, below it.
  private def checkChild(
      stream: DataFrame,
      grouped: Aggregate,
      keys: Seq[NamedExpression]
  ): Unit = grouped.child match {
    case same if same eq stream.queryExecution.analyzed => ()
    case Project(columns, _) if !columns.forall(_.deterministic) =>
      val moved = columns.filterNot(_.deterministic).map(_.exprId)
      val key = keys.find(_.references.exists(column => moved.contains(column.exprId)))
      throw EventtideException("KEY_NOT_DETERMINISTIC", "key" -> key.fold("")(_.name))
    case _ => throw EventtideException("METADATA_KEY")
  }

  private def checkKey(key: NamedExpression): Unit = {
    if (!key.deterministic) throw EventtideException("KEY_NOT_DETERMINISTIC", "key" -> key.name)
    if (!UnsafeRowUtils.isBinaryStable(key.dataType) && !CollatedKeys.isCollated(key))
      throw EventtideException("KEY_TYPE", "key" -> key.name, "type" -> key.dataType.sql)
  }

  private def checkAggregate(column: NamedExpression): Unit = {
    val calls = column.collect { case call: AggregateExpression => call }
    if (calls.isEmpty) throw EventtideException("NOT_AN_AGGREGATE", "column" -> text(column))
    calls.foreach { call =>
      if (call.aggregateFunction.isInstanceOf[PythonUDAF])
        throw EventtideException("PYTHON_AGGREGATE", "aggregate" -> text(call))
      if (call.isDistinct) throw EventtideException("DISTINCT_AGGREGATE", "aggregate" -> text(call))
    }
    if (callsPython(column))
      throw EventtideException("PYTHON_OVER_AGGREGATE", "column" -> text(column))
    requireDeterministic(column, text(column))
  }

  /** Rejects an expression over aggregates that has another value each time. The aggregates count
    * as deterministic, though some depend on the order of rows: Spark checks their arguments.
    */
  def requireDeterministic(result: Expression, name: String): Unit = {
    val around = result.transform { case call: AggregateExpression => Literal(null, call.dataType) }
    if (!around.deterministic)
      throw EventtideException("RESULT_NOT_DETERMINISTIC", "result" -> name)
  }

  private def callsPython(result: Expression): Boolean = result match {
    case _: AggregateExpression => false
    case other => isScalarPythonUDF(other) || other.children.exists(callsPython)
  }

  private def text(column: Expression): String = column match {
    case Alias(value, _) => toPrettySQL(value)
    case other => toPrettySQL(other)
  }

  /** Rejects results that cannot be written, or whose columns cannot be referred to by name. */
  def results(window: WindowAggregate): WindowAggregate = {
    differentNames(window.output.map(_.name))
    window
  }

  /** Rejects columns with ambiguous names. */
  def differentNames(names: Seq[String]): Unit = {
    val same = SQLConf.get.resolver
    names.find(name => names.count(same(_, name)) > 1).foreach { name =>
      throw EventtideException(
        "RESULT_COLUMN_TWICE",
        "column" -> name,
        "columns" -> names.mkString(", ")
      )
    }
  }
}
