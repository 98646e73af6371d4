package io.eventtide.spark.operators.window

import java.nio.file.Files

import scala.collection.mutable.ArrayBuffer

import org.apache.spark.sql.eventtide.TestQuery
import org.apache.spark.sql.execution.streaming.runtime.StreamingQueryWrapper
import org.apache.spark.sql.expressions.Aggregator
import org.apache.spark.sql.functions._
import org.apache.spark.sql.types.StructType
import org.apache.spark.sql.{Column, DataFrame, Encoder, Encoders, Row, classic}
import org.scalatest.funsuite.AnyFunSuite

import io.eventtide.spark.api.PythonApi
import io.eventtide.spark.options.Structure
import io.eventtide.spark.spi.PlanNodes
import io.eventtide.spark.testkit.{ScriptProvider, ScriptSource}
import io.eventtide.spark.{LocalSession, RequestedWindow}

/** The window operator in a real query, step by step. */
final class EventtideWindowExecSuite extends AnyFunSuite with LocalSession {
  private val schema = StructType.fromDDL("ts TIMESTAMP, user STRING, amount LONG")

  override protected def beforeAll(): Unit = {
    super.beforeAll()
    val rocks = "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"
    spark.conf.set("spark.sql.streaming.stateStore.providerClass", rocks)
  }

  private def second(n: Double): java.sql.Timestamp = new java.sql.Timestamp((n * 1000).toLong)

  private val fixedLag = Map("policy" -> "with_fixed_lag", "lag" -> "PT2S")

  private def windowed(options: (String, String)*)(aggregates: Seq[Column])(
      events: DataFrame
  ): DataFrame =
    RequestedWindow(events, "ts", fixedLag, Seq(col("user")), aggregates, options.toMap)

  private def tumbling = windowed("kind" -> "tumbling", "size" -> "PT10S") _

  private def play(query: DataFrame => DataFrame)(batches: Seq[Row]*): Seq[Seq[Row]] = {
    val script = ScriptSource.create(schema)
    val events =
      spark.readStream.format(classOf[ScriptProvider].getName).option("script", script.id).load()
    val checkpoint = Files.createTempDirectory("window").toString
    val result = query(events).asInstanceOf[classic.DataFrame]
    val scripted = new TestQuery(result, "append", checkpoint, 1000000)
    scripted.start(availableNow = false)
    try
      batches.map { batch =>
        script.add(spark.createDataFrame(java.util.Arrays.asList(batch: _*), schema))
        scripted.awaitIdle()
        scripted.newResults().collect().toSeq
      }
    finally scripted.stop()
  }

  private def flat(n: Column): Seq[Column] = Seq(
    unix_timestamp(col("window.start")),
    unix_timestamp(col("window.end")),
    col("user"),
    n
  )

  test("a tumbling window gives a row when the watermark reaches its end") {
    val rows =
      play(events => tumbling(Seq(count(lit(1)).as("n")))(events).select(flat(col("n")): _*))(
        Seq(Row(second(1001), "a", 1L), Row(second(1005), "a", 2L), Row(second(1003), "b", 3L)),
        Seq(Row(second(1011.9), "a", 1L)),
        Seq(Row(second(1012), "a", 1L))
      )
    assert(rows(0).isEmpty)
    assert(rows(1).isEmpty)
    assert(rows(2).toSet == Set(Row(1000L, 1010L, "a", 2L), Row(1000L, 1010L, "b", 1L)))
  }

  test("a sliding window gives a row at each slide, also to keys without new rows") {
    val sliding = windowed("kind" -> "sliding", "size" -> "PT3S", "slide" -> "PT1S") _
    val rows =
      play(events => sliding(Seq(sum("amount").as("n")))(events).select(flat(col("n")): _*))(
        Seq(Row(second(1001), "a", 1L), Row(second(1001.5), "b", 10L), Row(second(1002), "a", 2L)),
        Seq(Row(second(1004.5), "a", 4L)),
        Seq(Row(second(1010), "c", 0L))
      )
    assert(rows(0).isEmpty)
    assert(rows(1).toSet == Set(Row(999L, 1002L, "a", 1L), Row(999L, 1002L, "b", 10L)))
    val after = Set(
      Row(1000L, 1003L, "a", 3L),
      Row(1000L, 1003L, "b", 10L),
      Row(1001L, 1004L, "a", 3L),
      Row(1001L, 1004L, "b", 10L),
      Row(1002L, 1005L, "a", 6L),
      Row(1003L, 1006L, "a", 4L),
      Row(1004L, 1007L, "a", 4L)
    )
    assert(rows(2).toSet == after)
  }

  test("the configuration of Hadoop is broadcast once in a run") {
    val script = ScriptSource.create(schema)
    val events =
      spark.readStream.format(classOf[ScriptProvider].getName).option("script", script.id).load()
    val result = tumbling(Seq(count(lit(1)).as("n")))(events).asInstanceOf[classic.DataFrame]
    val checkpoint = Files.createTempDirectory("window").toString
    val scripted = new TestQuery(result, "append", checkpoint, 1000000)
    scripted.start(availableNow = false)
    try {
      val sent = Seq(second(1001), second(1005)).map { at =>
        script.add(spark.createDataFrame(java.util.Arrays.asList(Row(at, "a", 1L)), schema))
        scripted.awaitIdle()
        val running = scripted.query.asInstanceOf[StreamingQueryWrapper].streamingQuery
        running.lastExecution.executedPlan
          .collectFirst { case window: EventtideWindowExec => window.batch.get.hadoopConf.id }
      }
      assert(sent.head.isDefined && sent.distinct.size == 1)
    } finally scripted.stop()
  }

  private val anyKind = Seq(
    count(lit(1)).as("n"),
    sum("amount").as("sum"),
    avg("amount").as("avg"),
    max("user").as("max"),
    sort_array(collect_list("amount")).as("list"),
    approx_count_distinct("amount").as("distinct"),
    percentile_approx(col("amount"), lit(0.5), lit(100)).as("median"),
    sum(col("amount").cast("decimal(30,2)")).as("decimal"),
    max_by(col("user"), col("amount")).as("by"),
    (max("amount") - min("amount")).as("range"),
    count_if(col("amount") > 5).as("some")
  )

  private val deductible = Seq(
    count(lit(1)).as("n"),
    sum("amount").as("sum"),
    sum(col("amount").cast("decimal(20,2)")).as("decimal"),
    avg(col("amount").cast("decimal(20,2)")).as("average"),
    count("amount").as("values"),
    expr("sum(amount) filter (where amount > 20)").as("filtered"),
    expr("sum(cast(amount as decimal(28, 1))) filter (where amount > 20)").as("big"),
    sum(lit(2)).as("twos")
  )

  private def keeping = {
    val sketches = (0L to 22L).filter(_ % 3 > 0).map { n =>
      n -> spark.range(n).agg(expr("kll_sketch_agg_bigint(id)")).head().getAs[Array[Byte]](0)
    }
    val sketch = element_at(typedLit(sketches.toMap), col("amount"))
    Seq(
      call_function("kll_sketch_get_n_bigint", call_function("kll_merge_agg_bigint", sketch))
        .as("n"),
      udaf(KeepsWhatItMerges).apply(col("amount")).as("list")
    )
  }

  private val sketches = Seq(
    expr("theta_sketch_estimate(theta_sketch_agg(amount))").as("theta"),
    expr("hll_sketch_estimate(hll_sketch_agg(amount))").as("hll"),
    expr("kll_sketch_get_n_bigint(kll_sketch_agg_bigint(amount))").as("kll"),
    expr("hex(count_min_sketch(amount, 0.5d, 0.5d, 1))").as("counts"),
    expr("bitmap_count(bitmap_construct_agg(amount))").as("bits"),
    expr("size(approx_top_k(amount, 40, 100))").as("top"),
    mode(col("amount"), deterministic = true).as("mode")
  )

  private val fixed =
    Seq(max("amount").as("max"), avg("amount").as("avg"), round(stddev("amount"), 9).as("sd"))

  for {
    (kind, calls) <- Seq[(String, () => Seq[Column])](
      "any" -> (() => anyKind),
      "exact" -> (() => deductible),
      "fixed" -> (() => fixed),
      "keeping" -> (() => keeping),
      "sketch" -> (() => sketches)
    )
  }
    test(s"aggregates of $kind kind give what a batch query gives") {
      val aggregates = calls()
      val all = (0 until 400).map { i =>
        val amount = if (i % 7 == 0 || i % 100 > 60) null else (i * 37 % 23).toLong
        Row(second(1000 + i * 0.07), s"u${i % 3}", amount)
      }
      val sliding = windowed("kind" -> "sliding", "size" -> "PT6S", "slide" -> "PT0.2S") _
      val rows = play(sliding(aggregates))(all, Seq(Row(second(2000), "z", 1L)))
      val table = spark.createDataFrame(java.util.Arrays.asList(all: _*), schema)
      val batch = table
        .groupBy(window(col("ts"), "6 seconds", "200 milliseconds"), col("user"))
        .agg(aggregates.head, aggregates.tail: _*)
        .collect()
      val expected = batch.toSeq.map(_.toString).sorted
      assert(rows.flatten.map(_.toString).sorted == expected)
      assert(sliding(aggregates)(table).collect().toSeq.map(_.toString).sorted == expected)
    }

  test("which collation a key has is part of what a checkpoint is compared with") {
    val events = spark.readStream.format("rate").load().toDF("ts", "id")
    def structure(collation: String): Structure = {
      val key = collate(col("id").cast("string"), collation).as("user")
      val results = tumbling(Seq(count(lit(1)).as("n")))(events.withColumn("user", key))
      PlanNodes.windows(results.queryExecution.analyzed).head.structure
    }
    assert(structure("UTF8_LCASE").settings.contains("key_by" -> "user STRING COLLATE UTF8_LCASE"))
    assert(structure("UTF8_LCASE") != structure("UNICODE_CI"))
  }

  private def refusal(mode: String)(query: DataFrame => DataFrame): String = {
    val script = ScriptSource.create(schema)
    val events =
      spark.readStream.format(classOf[ScriptProvider].getName).option("script", script.id).load()
    intercept[Exception] {
      query(events).writeStream.format("noop").outputMode(mode).start().processAllAvailable()
    }.getMessage
  }

  test("modes other than append are refused by name") {
    for (mode <- Seq("update", "complete")) {
      val message = refusal(mode)(tumbling(Seq(count(lit(1)))))
      assert(message.contains("[OUTPUT_MODE_UNSUPPORTED]") && message.contains(s"'$mode'"))
    }
  }

  test("a state store without order is refused by name, with the setting") {
    val setting = "spark.sql.streaming.stateStore.providerClass"
    val rocks = spark.conf.get(setting)
    val hdfs = "org.apache.spark.sql.execution.streaming.state.HDFSBackedStateStoreProvider"
    spark.conf.set(setting, hdfs)
    try {
      val message = refusal("append")(tumbling(Seq(count(lit(1)))))
      assert(message.contains("[STATE_STORE_UNSUPPORTED]") && message.contains(setting))
    } finally spark.conf.set(setting, rocks)
  }

  test("the state store that counts is the one at the start of the query") {
    val setting = "spark.sql.streaming.stateStore.providerClass"
    val rocks = spark.conf.get(setting)
    val hdfs = "org.apache.spark.sql.execution.streaming.state.HDFSBackedStateStoreProvider"
    val script = ScriptSource.create(schema)
    val events =
      spark.readStream.format(classOf[ScriptProvider].getName).option("script", script.id).load()
    val result = tumbling(Seq(count(lit(1)).as("n")))(events).asInstanceOf[classic.DataFrame]
    val scripted =
      new TestQuery(result, "append", Files.createTempDirectory("window").toString, 1000000)
    try {
      scripted.start(availableNow = false)
      spark.conf.set(setting, hdfs)
      scripted.awaitIdle()
    } finally {
      spark.conf.set(setting, rocks)
      scripted.stop()
    }
  }

  test("a session with one watermark for all operators is refused by name") {
    val setting = "spark.sql.streaming.statefulOperator.allowMultiple"
    val message = withConf(setting, "false")(refusal("append")(tumbling(Seq(count(lit(1))))))
    assert(message.contains("[ALLOW_MULTIPLE_OFF]") && message.contains(setting))
  }

  test("the results of one window twice are refused by name") {
    val message = refusal("append") { events =>
      val results = tumbling(Seq(count(lit(1))))(events)
      results.union(results)
    }
    assert(message.contains("[WINDOW_TWICE]"))
  }

  test("no batch without rows is run for a watermark that closes nothing") {
    val script = ScriptSource.create(schema)
    val events =
      spark.readStream.format(classOf[ScriptProvider].getName).option("script", script.id).load()
    val result = tumbling(Seq(count(lit(1)).as("n")))(events).asInstanceOf[classic.DataFrame]
    val scripted =
      new TestQuery(result, "append", Files.createTempDirectory("window").toString, 1000000)
    scripted.start(availableNow = false)
    def batches(rows: Row*): Long = {
      script.add(spark.createDataFrame(java.util.Arrays.asList(rows: _*), schema))
      scripted.awaitIdle()
      scripted.lastBatchId
    }
    try {
      assert(batches(Row(second(1001), "a", 1L)) == 0)
      assert(batches(Row(second(1005), "a", 1L)) == 1)
      assert(batches(Row(second(1013), "a", 1L)) == 3) // and one more, which closes
      assert(batches(Row(second(1014), "a", 1L)) == 4)
    } finally scripted.stop()
  }

  test("a row is in its open windows, or in the late log with the reason; none is lost") {
    val script = ScriptSource.create(schema)
    val events =
      spark.readStream.format(classOf[ScriptProvider].getName).option("script", script.id).load()
    val sliding = windowed("kind" -> "sliding", "size" -> "PT4S", "slide" -> "PT2S") _
    val result = sliding(Seq(count(lit(1)).as("n")))(events).select(flat(col("n")): _*)
    val checkpoint = Files.createTempDirectory("window").toString
    val scripted =
      new TestQuery(result.asInstanceOf[classic.DataFrame], "append", checkpoint, 1000000)
    scripted.start(availableNow = false)
    def step(rows: Row*): Set[Row] = {
      script.add(spark.createDataFrame(java.util.Arrays.asList(rows: _*), schema))
      scripted.awaitIdle()
      scripted.newResults().collect().toSet
    }
    try {
      step(Row(second(1001), "a", 1L), Row(second(1007), "a", 1L), Row(null, "b", 2L))
      // closed up to 1004: 1000 is late, 1003 is in one window still
      val rows = step(
        Row(second(1000), "a", 3L),
        Row(second(1003.9), "a", 4L),
        Row(second(1003), "c", 5L),
        Row(second(1012), "z", 6L)
      )
      val closed = Set(
        Row(1002L, 1006L, "a", 1L),
        Row(1002L, 1006L, "c", 1L),
        Row(1004L, 1008L, "a", 1L),
        Row(1006L, 1010L, "a", 1L)
      )
      assert(rows == closed)
      val report = PythonApi.progressJson(spark, scripted.query.id.toString)
      assert(report.contains("\"onTime\":5"), report) // and two are late: seven were read
      for (reason <- Seq("bad_time", "window_closed"))
        assert(report.contains(s"\"$reason\":1"), report)
    } finally scripted.stop()
    val late = spark.read.parquet(checkpoint + "/late")
    val columns = Seq("_reason", "user", "amount", "_windows_missed").map(col)
    val found = late.select(columns: _*).collect().toSet
    assert(found == Set(Row("bad_time", "b", 2L, null), Row("window_closed", "a", 3L, 2)))
  }
}

/** The values in order, by a function that mutates what it was given to merge. */
private object KeepsWhatItMerges extends Aggregator[java.lang.Long, ArrayBuffer[Long], String] {
  def zero: ArrayBuffer[Long] = ArrayBuffer.empty
  def reduce(values: ArrayBuffer[Long], value: java.lang.Long): ArrayBuffer[Long] =
    if (value == null) values else values += value
  def merge(one: ArrayBuffer[Long], other: ArrayBuffer[Long]): ArrayBuffer[Long] =
    if (one.isEmpty) other else one ++= other
  def finish(values: ArrayBuffer[Long]): String = values.sorted.mkString(",")
  def bufferEncoder: Encoder[ArrayBuffer[Long]] = Encoders.kryo[ArrayBuffer[Long]]
  def outputEncoder: Encoder[String] = Encoders.STRING
}
