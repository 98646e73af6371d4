package io.eventtide.spark.planning

import scala.util.Try

import org.apache.spark.sql.Column
import org.apache.spark.sql.catalyst.analysis.{UnresolvedFunction, UnresolvedStar}
import org.apache.spark.sql.catalyst.expressions.{
  Expression,
  Literal,
  NonSQLExpression,
  UserDefinedExpression
}
import org.apache.spark.sql.catalyst.parser.CatalystSqlParser
import org.apache.spark.sql.eventtide.SparkInternals

/** Columns as SQL text. */
private[spark] object SqlText {

  /** The alias and the text of a column; None without an alias, or if SQL has no text for the
    * column, as for a user's function.
    */
  def named(column: Column): Option[(String, String)] =
    SparkInternals.named(column).flatMap { case (name, text, expression) =>
      of(expression, Some(text)).map(name -> _)
    }

  /** The text of an expression; None if SQL has none.
    *
    * @param written
    *   the text that the user has written, if there is one
    */
  def of(expression: Expression, written: Option[String]): Option[String] = {
    val counting = expression.transform { case _: UnresolvedStar => Literal(1) } // count(*)
    // Spark writes operators of the Column API as functions, and FILTER only as it was written.
    val others = Option.unless(counting.exists(hasFilter))(counting.sql)
    (written ++ others).find(isSql(_, counting))
  }

  // A user's function is a name that the text would resolve to another function.
  private def isSql(text: String, expression: Expression): Boolean =
    !expression.exists(isNoSql) &&
      Try(CatalystSqlParser.parseExpression(text).sql).toOption.contains(expression.sql)

  private def hasFilter(expression: Expression): Boolean = expression match {
    case call: UnresolvedFunction => call.filter.isDefined || call.isDistinct
    case _ => false
  }

  private def isNoSql(expression: Expression): Boolean = expression match {
    case _: UserDefinedExpression | _: NonSQLExpression => true
    case _ => false
  }
}
