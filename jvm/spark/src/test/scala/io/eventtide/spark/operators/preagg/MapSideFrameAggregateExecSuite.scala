package io.eventtide.spark.operators.preagg

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.aggregate.{Count, Max, Min, Sum}
import org.apache.spark.sql.catalyst.expressions.{
  Attribute,
  AttributeReference,
  IntegralDivide,
  Literal,
  Murmur3HashFunction,
  UnsafeRow
}
import org.apache.spark.sql.execution.metric.SQLMetrics
import org.apache.spark.sql.execution.{CollapseCodegenStages, ProjectExec}
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.types.{BinaryType, LongType, StringType, StructField, StructType}
import org.apache.spark.sql.{DataFrame, classic}
import org.scalatest.funsuite.AnyFunSuite
import org.scalatest.tags.Slow

import io.eventtide.kernel.window.TimeRange
import io.eventtide.spark.LocalSession
import io.eventtide.spark.operators.{AcceptedTimes, LatenessBounds}
import io.eventtide.spark.state.AggregateFunctions

/** Rows that are sure become frames and the others go on, in generated code and without. */
@Slow
final class MapSideFrameAggregateExecSuite extends AnyFunSuite with LocalSession {
  import MapSideFrameAggregateExecSuite._

  private def planOf(rows: DataFrame, bound: Long, times: Int): MapSideFrameAggregateExec = {
    val child = rows.asInstanceOf[classic.DataFrame].queryExecution.sparkPlan
    val projected = ProjectExec(child.output, child)
    val (key, time, value) = (child.output.head, child.output(1), child.output(2))
    val calls = Seq.fill(times)(Seq(Count(Literal(1)), Sum(value), Max(value))).flatten
    val bounds = spark.sparkContext.broadcast(LatenessBounds.all(bound).words)
    def sure(input: Seq[Attribute]) =
      OnTimeRowFilter(
        LatenessBounds.place(Seq(key), 2).over(input),
        timeAt = 1,
        AcceptedTimes(TimeRange(Long.MinValue, Latest), guard = None, nowMicros = None),
        Some(bounds)
      )
    val frames = AttributeReference("frames", BinaryType)()
    val frame = IntegralDivide(time, Literal(FrameSize))
    MapSideFrameAggregateExec(
      Seq(key),
      time,
      frame,
      calls.map(_.toAggregateExpression()),
      frames,
      sure,
      projected
    )
  }

  private def totals(rows: DataFrame, bound: Long, generated: Boolean, times: Int = 1): Totals =
    withConf(SQLConf.WHOLESTAGE_CODEGEN_ENABLED.key, generated.toString) {
      val plan = planOf(rows, bound, times)
      val calls = plan.aggregates.map(_.aggregateFunction)
      CollapseCodegenStages()
        .apply(plan)
        .execute()
        .mapPartitions(rows => Iterator(Totals.of(rows, new AggregateFunctions(calls, Nil).empty)))
        .reduce(_ + _)
    }

  private def rows(count: Long, key: String): DataFrame = spark
    .range(0, count, 1, 2)
    .selectExpr(
      s"$key AS key",
      "if(id % 7 = 0, null, id) AS time",
      "if(id % 5 = 0, null, id) AS value",
      "concat('row ', id) AS text"
    )

  private def expected(rows: DataFrame, bound: Long): Seq[Long] = {
    val isSure = s"time IS NOT NULL AND time >= $bound AND time <= $Latest"
    val found = rows
      .selectExpr(
        s"count_if($isSure)",
        s"sum(if($isSure, coalesce(value, 0), 0))",
        s"min(if($isSure, time, null))",
        s"max(if($isSure, time, null))",
        s"count_if(NOT coalesce($isSure, false))",
        s"sum(if(coalesce($isSure, false), 0, hash(key, time, value, text)))"
      )
      .head()
    (0 until found.length).map(found.getLong)
  }

  for (generated <- Seq(true, false)) {
    test(s"no row is lost on either way, and none is on both, generated code: $generated") {
      val all = rows(50_000, "id % 97")
      val found = totals(all, bound = 30_000, generated)
      assert(found.all == expected(all, 30_000))
      assert(found.framed < 97 * 60)
    }

    test(s"nor when memory is full in between, generated code: $generated") {
      // Each key twice in a row, so that rows are aggregated all the time.
      val all = rows(3_000_000, "if(id % 3 = 0, -id, id div 2)")
      val found = totals(all, bound = 100_000, generated, times = 4)
      assert(found.all == expected(all, 100_000))
    }
  }

  test("nor when there is no memory at all") {
    val all = rows(2_000, "id % 97").coalesce(1)
    val plan = planOf(all, bound = 1_000, times = 1)
    val updates = FrameAggregation.of(
      plan.keys,
      plan.frame,
      plan.aggregates ++ Seq(Min(plan.time), Max(plan.time), Count(Literal(1)))
        .map(_.toAggregateExpression()),
      plan.child.output,
      StructType(plan.child.output.drop(1).map(column => StructField(column.name, column.dataType)))
    )
    val sure = plan.onTimeFilterOf(plan.child.output)
    val found = withConf(SQLConf.WHOLESTAGE_CODEGEN_ENABLED.key, "false") {
      val empty = new AggregateFunctions(plan.aggregates.map(_.aggregateFunction), Nil).empty
      val metric = SQLMetrics.createMetric(spark.sparkContext, "sure")
      plan.child
        .execute()
        .mapPartitions { rows =>
          val frames = updates.openWith(_ => false)
          Iterator(Totals.of(new OnTimeFrameIterator(rows, sure, updates, frames, metric), empty))
        }
        .reduce(_ + _)
    }
    assert(found.all == expected(all, 1_000))
  }

  test("rows of ever new keys go on as they are") {
    val all = rows(200_000, "id")
    val found = totals(all, bound = 0, generated = true)
    assert(found.rows + found.goneOn == 200_000)
    assert(found.goneOn > 100_000)
  }
}

private object MapSideFrameAggregateExecSuite {
  val FrameSize = 1000L
  val Latest = 2_900_000L

  /** What has come out.
    *
    * @param rows
    *   how many have been aggregated, and below their values and times
    * @param framed
    *   how many rows of frames there are
    * @param goneOn
    *   how many rows have gone on, and below a sum of their hashes
    */
  final case class Totals(
      rows: Long = 0,
      sum: Long = 0,
      lowest: Long = Long.MaxValue,
      highest: Long = Long.MinValue,
      framed: Long = 0,
      goneOn: Long = 0,
      hashes: Long = 0
  ) {
    def all: Seq[Long] = Seq(rows, sum, lowest, highest, goneOn, hashes)

    def +(other: Totals): Totals = Totals(
      rows + other.rows,
      sum + other.sum,
      math.min(lowest, other.lowest),
      math.max(highest, other.highest),
      framed + other.framed,
      goneOn + other.goneOn,
      hashes + other.hashes
    )
  }

  object Totals {
    private val Columns = 4

    def of(rows: Iterator[InternalRow], empty: UnsafeRow): Totals = {
      val packed =
        new PackedFramesReader(Columns, empty, MapSideFrameAggregateExec.FrameTimeColumns)
      val frames = new FrameReader.Mixed(1, Columns, packed, aggregates = true)
      rows.foldLeft(Totals()) { (totals, row) =>
        frames.begin(row)
        if (frames.isAggregated) takeFrames(totals, frames, empty.numFields)
        else totals + Totals(goneOn = 1, hashes = hash(row))
      }
    }

    private def takeFrames(totals: Totals, frames: FrameReader, beside: Int): Totals = {
      var all = totals + Totals(framed = 1)
      do {
        val buffer = frames.buffer
        val (lowest, highest) = (buffer.getLong(beside), buffer.getLong(beside + 1))
        require(lowest / FrameSize == frames.frame && highest / FrameSize == frames.frame)
        val sum = if (buffer.isNullAt(1)) 0 else buffer.getLong(1)
        require(buffer.getLong(0) == buffer.getLong(beside + 2))
        all += Totals(buffer.getLong(0), sum, lowest, highest)
      } while (frames.next())
      all
    }

    private def hash(row: InternalRow): Long = {
      def number(at: Int) = if (row.isNullAt(at)) None else Some(row.getLong(at))
      val seed = Seq(0, 1, 2).flatMap(number).foldLeft(42) { (seed, value) =>
        Murmur3HashFunction.hash(value, LongType, seed.toLong).toInt
      }
      Murmur3HashFunction.hash(row.getUTF8String(3), StringType, seed.toLong)
    }
  }
}
