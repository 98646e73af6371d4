package io.eventtide.spark.sql

import org.apache.spark.sql.catalyst.analysis.UnresolvedAttribute
import org.apache.spark.sql.catalyst.expressions.Literal
import org.apache.spark.sql.types.StringType
import org.apache.spark.unsafe.types.UTF8String

/** Reads the name of a column or of a field: `ts`, `meta.ts`, or such a text. */
private[sql] object ColumnName {

  def of(argument: Argument, lists: ExpressionList): String = argument.value match {
    case Literal(text: UTF8String, _: StringType) => text.toString
    case QuotedArgument(Literal(text: UTF8String, _: StringType)) => text.toString
    case _ =>
      lists.one(argument) match {
        case column: UnresolvedAttribute => column.name
        case other =>
          val allowed = "the name of a column, such as ts"
          argument.refuse("INVALID_CHOICE", "value" -> other.sql, "allowed" -> allowed)
      }
  }
}
