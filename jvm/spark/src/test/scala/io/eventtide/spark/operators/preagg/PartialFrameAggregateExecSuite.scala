package io.eventtide.spark.operators.preagg

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.aggregate.{
  AggregateExpression,
  AggregateFunction,
  Count,
  Max,
  Sum
}
import org.apache.spark.sql.catalyst.expressions.{
  Ascending,
  AttributeReference,
  IsNotNull,
  Literal,
  SortOrder
}
import org.apache.spark.sql.execution.{
  CollapseCodegenStages,
  SortExec,
  SparkPlan,
  WholeStageCodegenExec
}
import org.apache.spark.sql.functions.expr
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.types.BinaryType
import org.apache.spark.sql.{DataFrame, classic}
import org.scalatest.funsuite.AnyFunSuite
import org.scalatest.tagobjects.Slow

import io.eventtide.spark.LocalSession
import io.eventtide.spark.state.AggregateFunctions

/** Aggregation by key with all its frames, in generated code and without. */
final class PartialFrameAggregateExecSuite extends AnyFunSuite with LocalSession {

  /** Of one key and frame: rows, their sum, their highest, rows with a value, by a filter, and with a
    * key.
    */
  private type Found = Map[(String, Long), Seq[Any]]

  private def planOf(
      rows: DataFrame,
      times: Int = 1
  ): (PartialFrameAggregateExec, Seq[AggregateFunction]) = {
    val child = rows.asInstanceOf[classic.DataFrame].queryExecution.sparkPlan
    val (key, frame, value) = (child.output.head, child.output(1), child.output(2))
    def call(function: AggregateFunction): AggregateExpression = function.toAggregateExpression()
    val once = Seq(
      call(Count(Literal(1))),
      call(Sum(value)),
      call(Max(value)),
      call(Count(Literal(1))).copy(filter = Some(IsNotNull(value))),
      call(Count(key))
    )
    val calls = Seq.fill(times)(once).flatten
    val frames = AttributeReference("frames", BinaryType, nullable = false)()
    (
      PartialFrameAggregateExec(Seq(key), frame, calls, frames, child),
      calls.map(_.aggregateFunction)
    )
  }

  private def prepared(plan: SparkPlan, generated: Boolean): SparkPlan = {
    val result = CollapseCodegenStages().apply(plan)
    assert(result.isInstanceOf[WholeStageCodegenExec] == generated)
    result
  }

  private def inMode[A](generated: Boolean)(work: => A): A =
    withConf(SQLConf.WHOLESTAGE_CODEGEN_ENABLED.key, generated.toString)(work)

  private def found(rows: DataFrame, generated: Boolean): Found = inMode(generated) {
    val (plan, functions) = planOf(rows)
    val keys = plan.keys.map(_.toAttribute)
    prepared(plan, generated)
      .execute()
      .mapPartitions { rows =>
        val calls = new AggregateFunctions(functions, Nil)
        val keyed = KeyedFrameReader(rows, keys, new PackedFramesReader(1, calls.empty))
        Iterator.continually(keyed).takeWhile(_.hasNext).map { keyed =>
          val key = keyed.nextKey().get(0, keys.head.dataType)
          val one = (String.valueOf(key), keyed.frame) -> calls.evaluate(keyed.buffer).copy()
          keyed.advance()
          one
        }
      }
      .collect()
      .map { case (key, row) => key -> row.toSeq(functions.map(_.dataType)) }
      .toMap
  }

  private def expected(rows: DataFrame): Found = {
    val columns =
      Seq("count(1)", "sum(value)", "max(value)", "count(value)", "count(key)").map(expr)
    rows
      .groupBy("key", "frame")
      .agg(columns.head, columns.tail: _*)
      .collect()
      .map(row => (String.valueOf(row.get(0)), row.getLong(1)) -> row.toSeq.drop(2))
      .toMap
  }

  private val value = "if(id % 5 = 0, null, id) AS value"

  for (
    key <- Seq(
      "id % 97",
      "cast(id % 97 AS int)",
      "cast(id % 97 AS tinyint) - 50Y",
      "nullif(id % 97, 13)",
      "concat('key ', id % 97)",
      "cast(id % 9 AS decimal(30, 2))"
    )
  )
    test(s"buffers by $key and frame are what Spark groups to, in generated code and without") {
      val rows =
        spark.range(0, 20_000, 1, 1).selectExpr(s"$key AS key", "id div 1000 - 7 AS frame", value)
      val all = expected(rows)
      assert(found(rows, generated = true) == all)
      assert(found(rows, generated = false) == all)
    }

  for (key <- Seq("id % 40009", "cast(id % 40009 AS int)", "nullif(id % 40009, 13)"))
    test(s"so are those of many keys, as $key, whose rows are set aside", Slow) {
      val rows =
        spark.range(0, 200_000, 1, 1).selectExpr(s"$key AS key", "id div 30000 AS frame", value)
      assert(found(rows, generated = true) == expected(rows))
    }

  // Spark 4.2 has it off.
  private def inUnions[A](work: => A): A =
    withConf("spark.sql.codegen.wholeStage.union.enabled", "true")(work)

  test("so are those of a union, whose code is generated once for each of its branches", Slow) {
    def branch(from: Long): DataFrame =
      spark
        .range(from, from + 200_000, 1, 2)
        .selectExpr("id div 4 AS key", "id % 3 AS frame", value)
    val rows = branch(0).union(branch(200_000))
    val all = expected(rows)
    val isSame =
      inUnions(found(rows, generated = true)) == all // to show how they differ takes long
    assert(all.size > 100_000 && isSame)
  }

  // With four times the functions, under a half of these keys fill the memory that there is at most.
  private val Keys = 400_000
  private val Times = 4

  private def twice(partitions: Int): DataFrame =
    spark
      .range(0, Keys * 2L * partitions, 1, partitions)
      .selectExpr(s"id % $Keys AS key", "id % 2 AS frame", value)

  /** Rows that are given, rows that they count, and the highest value. */
  private def totals(rows: DataFrame, generated: Boolean)(
      above: PartialFrameAggregateExec => SparkPlan = identity
  ): (Long, Long, Long) = inMode(generated) {
    val (plan, functions) = planOf(rows, Times)
    val all = prepared(above(plan), generated)
      .execute()
      .mapPartitions(PartialFrameAggregateExecSuite.totals(_, functions))
      .collect()
    (all.map(_._1).sum, all.map(_._2).sum, all.map(_._3).max)
  }

  for (generated <- Seq(true, false))
    test(s"when memory is full rows are given before the input ends, generated code: $generated") {
      val (rowsGiven, count, most) = totals(twice(partitions = 1), generated)()
      assert(rowsGiven > Keys && rowsGiven <= Keys * 2L)
      assert(count == Keys * 2L)
      assert(most == Keys * 2L - 1)
    }

  test("also to what takes all of them in one go, as sorting does", Slow) {
    val (rowsGiven, count, _) = totals(twice(partitions = 1), generated = true) { plan =>
      SortExec(Seq(SortOrder(plan.output.head, Ascending)), global = false, plan)
    }
    assert(rowsGiven > Keys)
    assert(count == Keys * 2L)
  }

  test("also from a union, which stops no more than a branch", Slow) {
    val rows = twice(partitions = 2).union(twice(partitions = 2))
    val (rowsGiven, count, _) = inUnions(totals(rows, generated = true)())
    assert(rowsGiven > Keys * 4L)
    assert(count == Keys * 8L)
  }
}

private object PartialFrameAggregateExecSuite {

  /** How many rows there are, what they count, and the highest value. */
  def totals(
      rows: Iterator[InternalRow],
      functions: Seq[AggregateFunction]
  ): Iterator[(Long, Long, Long)] = {
    val frames = new PackedFramesReader(1, new AggregateFunctions(functions, Nil).empty)
    Iterator(rows.foldLeft((0L, 0L, 0L)) { case ((rowsGiven, count, most), row) =>
      frames.begin(row)
      val buffer = frames.buffer
      val max = if (buffer.isNullAt(2)) 0L else buffer.getLong(2)
      (rowsGiven + 1, count + buffer.getLong(0), math.max(most, max))
    })
  }
}
