package io.eventtide.spark.voltsp

import scala.annotation.varargs

import org.apache.spark.sql.Column
import org.apache.spark.sql.functions.expr
import org.apache.spark.sql.{functions => F}

import io.eventtide.spark.options.WindowConflicts

/** The aggregates of a window, initially empty in `VoltSPWindow.withAggregateDefinition`. A column is
  * a Column, or a text that is a name or SQL over the rows.
  */
final class AggregateDefinition private (
    private[voltsp] val aggregates: Seq[Column],
    names: Seq[String]
) {

  /** Counts the rows, as the column `count`. */
  def count(): AggregateDefinition = count("count")

  /** Counts the rows. */
  def count(name: String): AggregateDefinition = named(name, functionOfRows)

  /** Counts the rows in which the column is not null. */
  def count(name: String, column: String): AggregateDefinition = count(name, expr(column))

  /** As with text. */
  def count(name: String, column: Column): AggregateDefinition =
    named(name, F.count(column))

  /** Computes the sum of the values. */
  def sum(name: String, column: String): AggregateDefinition = sum(name, expr(column))

  /** As with text. */
  def sum(name: String, column: Column): AggregateDefinition =
    named(name, F.sum(column))

  /** Computes the mean of the values. */
  def avg(name: String, column: String): AggregateDefinition = avg(name, expr(column))

  /** As with text. */
  def avg(name: String, column: Column): AggregateDefinition =
    named(name, F.avg(column))

  /** Computes the lowest value. */
  def min(name: String, column: String): AggregateDefinition = min(name, expr(column))

  /** As with text. */
  def min(name: String, column: Column): AggregateDefinition =
    named(name, F.min(column))

  /** Computes the highest value. */
  def max(name: String, column: String): AggregateDefinition = max(name, expr(column))

  /** As with text. */
  def max(name: String, column: Column): AggregateDefinition =
    named(name, F.max(column))

  /** Computes any mergeable aggregate, as SQL text. */
  def expression(name: String, expression: String): AggregateDefinition =
    named(name, expr(expression))

  /** Computes any mergeable Spark aggregates, as for `WindowBuilder.agg`. */
  @varargs def agg(columns: Column*): AggregateDefinition =
    new AggregateDefinition(aggregates ++ columns, names)

  // count(*), whose text in a checkpoint is that of Python's count("*")
  private def functionOfRows: Column = F.count("*")

  private def named(name: String, column: Column): AggregateDefinition = {
    if (names.contains(name))
      WindowConflicts.refuse("name", name, "is already used", "names that differ", "Change it")
    new AggregateDefinition(aggregates :+ column.as(name), names :+ name)
  }
}

object AggregateDefinition {

  /** No aggregates. */
  def apply(): AggregateDefinition = new AggregateDefinition(Nil, Nil)
}
