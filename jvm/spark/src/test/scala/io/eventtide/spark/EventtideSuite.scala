package io.eventtide.spark

import java.nio.file.Files
import java.time.Duration

import org.apache.spark.sql.catalyst.streaming.StreamingRelationV2
import org.apache.spark.sql.eventtide.{SparkInternals, TestQuery}
import org.apache.spark.sql.functions.{col, expr, upper, window}
import org.apache.spark.sql.types.StructType
import org.apache.spark.sql.{DataFrame, Row}
import org.scalatest.funsuite.AnyFunSuite

import io.eventtide.spark.api.PythonApi
import io.eventtide.spark.options.SubstreamDescription
import io.eventtide.spark.planning.PolicyWatermark
import io.eventtide.spark.testkit.{ScriptProvider, ScriptSource}

class EventtideSuite extends AnyFunSuite with LocalSession {
  private val schema = StructType.fromDDL("ts timestamp, device string")

  private def stream(script: ScriptSource): DataFrame =
    spark.readStream.format(classOf[ScriptProvider].getName).option("script", script.id).load()

  private def rows(values: (Long, String)*): DataFrame = spark
    .createDataFrame(values)
    .selectExpr("timestamp_seconds(_1) as ts", "_2 as device")

  private val lull = WatermarkPolicy
    .limitingLagAndLull(Duration.ofSeconds(2), Duration.ofSeconds(5))
    .throttleByFrame(Duration.ofSeconds(1))

  test("a Scala user's query follows its policy, with rows and without") {
    val script = ScriptSource.create(schema)
    val options =
      WatermarkOptions().substream(col("device")).substreamIdleTimeout(Duration.ofSeconds(60))
    val watermarked = Eventtide.withWatermark(stream(script), "ts", lull, options)
    val counts = watermarked.groupBy(window(col("ts"), "10 seconds")).count().select("count")
    val query = PythonApi.scriptedQuery(counts, "append", newFolder(), startMs = 0)
    query.start(availableNow = false)
    try {
      feed(script, query, rows((1, "a"), (13, "a"), (12, "b")))
      assert(query.newResults().collect().toSeq == Seq(Row(1L)) && query.watermarkMs == 10000)
      query.setClock(15000)
      query.awaitIdle()
      assert(query.newResults().collect().toSeq == Seq(Row(2L)) && query.watermarkMs == 20000)
    } finally query.stop()
  }

  private def feed(script: ScriptSource, query: TestQuery, batch: DataFrame): Unit = {
    script.add(batch.asInstanceOf[org.apache.spark.sql.classic.DataFrame])
    query.awaitIdle()
  }

  private def newFolder(): String = Files.createTempDirectory("checkpoint").toString

  test("decorators and policies inside become numbered options") {
    val policy = WatermarkPolicy
      .maxOf(WatermarkPolicy.withFixedLag(Duration.ofSeconds(1)), WatermarkPolicy.minEventTime)
      .guardFuture(Duration.ofHours(1), on = "late")
      .emitEvery(Duration.ofSeconds(1))
    val plan = Eventtide.withWatermark(stream(ScriptSource.create(schema)), "ts", policy)
    val node = plan.queryExecution.analyzed.collectFirst { case found: PolicyWatermark =>
      found
    }.get
    assert(node.settings.policy.toString == "max_of(with_fixed_lag(lag=1000000), min_event_time())")
    assert(
      node.settings.throttles.map(_.name) == Seq("emit_every") && node.settings.guard.isDefined
    )
  }

  test("Kafka's default substream neither adds columns nor takes them away") {
    val script =
      ScriptSource.create(StructType.fromDDL("ts timestamp, topic string, partition int"))
    val kafka = stream(script).queryExecution.analyzed.transform { case r: StreamingRelationV2 =>
      r.copy(sourceName = "kafka")
    }
    val frame = SparkInternals.dataFrame(spark, kafka)
    Seq(frame, frame.select("partition", "ts"), frame.select("ts")).foreach { kept =>
      val watermarked = Eventtide.withWatermark(kept, "ts", lull)
      assert(watermarked.columns.toSeq == kept.columns.toSeq)
      val node =
        watermarked.queryExecution.analyzed.collectFirst { case found: PolicyWatermark => found }
      assert(node.get.settings.substreams == SubstreamDescription.Kafka)
    }
  }

  test("a substream has the same label however it is spelled") {
    val named = stream(ScriptSource.create(schema)).alias("named")
    val labels = Map(
      "device" -> Seq(col("device"), col("DEVICE"), col("named.device"), named("device").as("d")),
      "upper(device)" -> Seq(upper(col("device")), expr("UPPER(named.device)")),
      "CAST(device AS INT)" -> Seq(col("device").cast("int"))
    )
    for ((label, columns) <- labels; column <- columns) {
      val options = WatermarkOptions().substream(column)
      val plan = Eventtide.withWatermark(named, "ts", lull, options).queryExecution.analyzed
      val node = plan.collectFirst { case found: PolicyWatermark => found }.get
      assert(node.settings.substreams == SubstreamDescription.named(label))
    }
  }

  test("filters and columns are pushed below the watermark, down to the source") {
    val watermarked = Eventtide.withWatermark(stream(ScriptSource.create(schema)), "ts", lull)
    val analyzed = watermarked.filter("device = 'a'").select("ts").queryExecution.analyzed
    val plan = spark.sessionState.optimizer.execute(analyzed) // as Spark does for each batch
    val node = plan.collectFirst { case found: PolicyWatermark => found }.get
    assert(node.child.toString.contains("Filter") && !plan.toString.contains("AttachClock"))
  }
}
