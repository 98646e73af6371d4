package io.eventtide.spark.planning

import scala.util.Try

import org.apache.spark.sql.Column
import org.apache.spark.sql.catalyst.expressions.{
  Alias,
  Expression,
  NonSQLExpression,
  UserDefinedExpression
}
import org.apache.spark.sql.catalyst.parser.CatalystSqlParser
import org.apache.spark.sql.eventtide.SparkInternals

/** Columns as SQL text. */
private[spark] object SqlText {

  /** The name and the text of a column; None if SQL has no text for it, as for a user's function. */
  def named(column: Column): Option[(String, String)] = {
    val (name, expression) = SparkInternals.expression(column) match {
      case Alias(child, name) => (name, child)
      case other => (SparkInternals.defaultName(other), other)
    }
    text(expression).map(name -> _)
  }

  // Text that reads as it is written means the same expression, if no part of it is only a name.
  private def text(expression: Expression): Option[String] =
    Option.unless(expression.exists(isNoSql))(expression.sql).filter { text =>
      Try(CatalystSqlParser.parseExpression(text).sql).toOption.contains(text)
    }

  private def isNoSql(expression: Expression): Boolean = expression match {
    case _: UserDefinedExpression | _: NonSQLExpression => true
    case _ => false
  }
}
