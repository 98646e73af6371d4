package io.eventtide.spark.planning

import org.apache.spark.sql.catalyst.expressions.{
  Alias,
  CaseWhen,
  Coalesce,
  Expression,
  If,
  Literal
}
import org.apache.spark.sql.catalyst.plans.logical.Project
import org.apache.spark.sql.catalyst.util.toPrettySQL
import org.apache.spark.sql.classic.DataFrame
import org.apache.spark.sql.eventtide.SparkInternals
import org.apache.spark.sql.{AnalysisException, Column}

import io.eventtide.spark.EventtideException

/** The gap of each row of a session, as a column in microseconds that is computed once. */
private[spark] object SessionGap {

  /** @param rows
    *   the rows with the user's columns only, over which the gap is resolved
    */
  def apply(rows: DataFrame, gap: Column): Alias = {
    val value = resolved(rows, gap)
    def refuse(condition: String, more: (String, Any)*): Nothing =
      throw EventtideException(condition, ("gap" -> toPrettySQL(value)) +: more: _*)
    if (!value.deterministic) refuse("GAP_NOT_DETERMINISTIC")
    if (!GapMicros.takes(value.dataType)) refuse("GAP_TYPE", "type" -> value.dataType.sql)
    constants(value).find(constant => constant.value != null && !isUsable(constant)).foreach {
      wrong => refuse("GAP_WITHOUT_LENGTH", "value" -> toPrettySQL(wrong))
    }
    Alias(GapMicros(value), Name)()
  }

  /** A gap in microseconds, null if it cannot be used, as a separate column. */
  def micros(gap: Column): Column = SparkInternals.column(gap)(GapMicros(_))

  private def resolved(rows: DataFrame, gap: Column): Expression = {
    def refuse(reason: String): Nothing = throw EventtideException(
      "GAP_UNRESOLVED",
      "gap" -> gap,
      "reason" -> reason,
      "available" -> rows.columns.mkString(", ")
    )
    val plan =
      try rows.select(gap.as(Name)).queryExecution.analyzed
      catch { case reason: AnalysisException => refuse(reason.getMessage.linesIterator.next()) }
    plan match {
      case Project(Seq(Alias(value, _)), child) if child eq rows.queryExecution.analyzed => value
      case _ => refuse("it is not one value of each row")
    }
  }

  private def isUsable(constant: Literal): Boolean = GapMicros(constant).eval() != null

  /** The constants that are gaps of some rows. */
  private def constants(value: Expression): Seq[Literal] = value match {
    case constant: Literal => Seq(constant)
    case CaseWhen(branches, otherwise) => (branches.map(_._2) ++ otherwise).flatMap(constants)
    case If(_, one, other) => Seq(one, other).flatMap(constants)
    case Coalesce(values) => values.flatMap(constants)
    case _ => Nil
  }

  private[planning] val Name = "_eventtide_gap"
}
