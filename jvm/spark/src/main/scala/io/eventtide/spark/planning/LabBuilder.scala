package io.eventtide.spark.planning

import org.apache.spark.sql.catalyst.encoders.RowEncoder
import org.apache.spark.sql.catalyst.expressions.{Attribute, Expression, PreciseTimestampConversion}
import org.apache.spark.sql.classic.{DataFrame, SparkSession}
import org.apache.spark.sql.eventtide.SparkInternals
import org.apache.spark.sql.functions.{col, count, lit, max, min, when}
import org.apache.spark.sql.types.LongType
import org.apache.spark.sql.{Column, Row}

import io.eventtide.kernel.time.Frame
import io.eventtide.kernel.window.WindowSpec
import io.eventtide.spark.EventtideException
import io.eventtide.spark.options.{
  OptionReader,
  SessionDefaults,
  SubstreamDescription,
  WatermarkOptionsCodec,
  WindowCodec,
  WindowKind
}
import io.eventtide.spark.policies.PythonPolicyKind
import io.eventtide.spark.query.lab.Replay
import io.eventtide.spark.spi.SubstreamName

/** Replays recorded rows under several policies: Spark counts them by batch, substream and frame, and
  * one task replays the counts, in their order.
  *
  * {{{
  *   event_time=ts  arrival=seen  every=PT10S            the clock of the query, and its trigger
  *   policies.0.policy=with_fixed_lag  policies.0.lag=PT5S
  *   and the options of WindowCodec
  * }}}
  */
private[planning] object LabBuilder {

  def lab(recorded: DataFrame, lists: RequestColumns, options: OptionReader): DataFrame = {
    if (recorded.isStreaming) throw EventtideException("LAB_STREAM")
    val every = options
      .duration("every", 1000)
      .getOrElse(OptionReader.missing("every", "a duration in ISO 8601"))
    val time = timestamp(recorded, "event_time", options)
    val arrival = timestamp(time.rows, "arrival", options)
    val (substream, label, rows) = substreams(arrival.rows, lists.substream)
    val policies = options.numbered("policies")
    val (ofPolicies, ofWindow) = options.unread.partition(_._1.startsWith("policies."))
    val spec = windows(ofWindow)
    val defaults = recorded.sparkSession.conf.getAll
    val replay =
      Replay(policies.map(policy(_, ofPolicies, label, defaults)), label, spec, every)
    val timed = rows.select(
      Seq(
        FrameNumber(micros(arrival.column), Frame(every)) -> "trigger",
        FrameNumber(micros(time.column), spec.frames) -> "frame",
        micros(time.column) -> "time",
        SubstreamName.expression(substream) -> "substream"
      ).map { case (expression, name) => SparkInternals.column(expression).as(name) } ++
        named(lists.keys): _*
    )
    // A trigger takes the rows that have come before it.
    val batched = timed.withColumn("batch", (col("trigger") + 1) * every)
    grouped(batched, lists.keys.indices.map(i => col(keyName(i))))
      .repartition(1)
      .sortWithinPartitions("batch")
      .mapPartitions((groups: Iterator[Row]) => replay.over(groups))(
        RowEncoder.encoderFor(Replay.Result)
      )
  }

  private def timestamp(rows: DataFrame, option: String, options: OptionReader) = {
    val name = options.required(option, "a column name")
    val found = EventTimeColumn.named(rows, name)
    EventTimeColumn.checkType(found.column, name)
    found
  }

  private def named(keys: Seq[Column]): Seq[Column] =
    keys.zipWithIndex.map { case (key, i) => key.as(keyName(i)) }

  private def keyName(position: Int) = s"key_$position"

  private def substreams(
      rows: DataFrame,
      columns: Seq[Column]
  ): (Seq[Expression], SubstreamDescription, DataFrame) =
    if (columns.isEmpty) (Nil, SubstreamDescription.Global, rows)
    else {
      val chosen = SubstreamSelection.named(rows, columns)
      (chosen.keys, chosen.label, SparkInternals.dataFrame(rows.sparkSession, chosen.plan))
    }

  private def policy(
      prefix: String,
      options: Map[String, String],
      label: SubstreamDescription,
      defaults: Map[String, String]
  ): Map[String, String] = {
    val own = options.collect {
      case (name, value) if name.startsWith(s"$prefix.") => name.drop(prefix.length + 1) -> value
    }
    val all = SessionDefaults.watermark(own, defaults)
    val settings = WatermarkOptionsCodec.watermark(all, label)
    def refuse(reason: String) =
      throw EventtideException("LAB_POLICY", "policy" -> settings.policy, "reason" -> reason)
    settings.policy.customNames
      .find(_.startsWith(PythonPolicyKind.Prefix))
      .foreach(name => refuse(s"$name runs in a Python process"))
    settings.policy.markColumns.foreach(name => refuse(s"it follows the marks of column $name"))
    if (settings.guard.isDefined) refuse("it refuses rows by guard_future")
    all
  }

  private def windows(options: Map[String, String]): WindowSpec = {
    val settings = WindowCodec.window(options, isLocal = false)
    settings.windows match {
      case WindowKind.ByTime(spec) if !settings.isJudgedByKey && !spec.profile.onEveryAdvance =>
        spec
      case _ => throw EventtideException("LAB_WINDOW", "window" -> settings.summary)
    }
  }

  private def micros(column: Attribute): Expression =
    PreciseTimestampConversion(column, column.dataType, LongType)

  // A row without an arrival or without a time is in no batch.
  private def grouped(rows: DataFrame, keys: Seq[Column]): DataFrame = {
    val batch = when(col("frame").isNotNull, col("batch"))
    val counts = rows
      .groupBy(batch.as("batch"), col("frame"), col("substream"))
      .agg(count(lit(1)).as("rows"), min("time").as("lowest"), max("time").as("highest"))
      .withColumn("new_keys", lit(0L))
      .select(Replay.Columns.map(col): _*)
    val all = counts.unionAll(noRows(rows.sparkSession))
    val timed = rows.where(col("batch").isNotNull && col("frame").isNotNull)
    if (keys.isEmpty) all else all.unionAll(firstKeys(timed, keys))
  }

  // So that a task replays a recording without rows, too.
  private def noRows(session: SparkSession): DataFrame =
    group(session.range(1).toDF(), batch = lit(null), frame = lit(null), newKeys = lit(0L))

  // The keys of each frame, in the batch in which they come first.
  private def firstKeys(rows: DataFrame, keys: Seq[Column]): DataFrame = {
    val first = rows.groupBy(col("frame") +: keys: _*).agg(min("batch").as("batch"))
    val counted = first.groupBy("batch", "frame").agg(count(lit(1)).as("new_keys"))
    group(counted, col("batch"), col("frame"), col("new_keys"))
  }

  private def group(of: DataFrame, batch: Column, frame: Column, newKeys: Column): DataFrame =
    of.select(
      batch.cast(LongType).as("batch"),
      frame.cast(LongType).as("frame"),
      lit("").as("substream"),
      lit(0L).as("rows"),
      lit(Long.MaxValue).as("lowest"),
      lit(Long.MinValue).as("highest"),
      newKeys.as("new_keys")
    )
}
