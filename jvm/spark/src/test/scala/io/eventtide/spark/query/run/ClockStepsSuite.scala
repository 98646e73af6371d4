package io.eventtide.spark.query.run

import java.nio.file.{Files, Path}
import java.time.Duration
import java.util.{EnumSet, Map => JMap}

import org.apache.spark.sql.classic.DataFrame
import org.apache.spark.sql.connector.catalog._
import org.apache.spark.sql.connector.expressions.Transform
import org.apache.spark.sql.connector.read.streaming.{MicroBatchStream, Offset}
import org.apache.spark.sql.connector.read.{
  InputPartition,
  PartitionReaderFactory,
  Scan,
  ScanBuilder
}
import org.apache.spark.sql.eventtide.TestQuery
import org.apache.spark.sql.streaming.StreamingQueryException
import org.apache.spark.sql.types.StructType
import org.apache.spark.sql.util.CaseInsensitiveStringMap
import org.scalatest.funsuite.AnyFunSuite

import io.eventtide.spark.testkit.{ScriptProvider, ScriptSource}
import io.eventtide.spark.{Eventtide, LocalSession, WatermarkPolicy}

/** A clock that goes wrong between two looks at it. */
final class ClockStepsSuite extends AnyFunSuite with LocalSession {
  private val Start = 1704067200000L
  private val policy = WatermarkPolicy.limitingRealTimeLag(Duration.ofSeconds(1))

  test("a clock that goes wrong while a source is asked stops the query before the batch") {
    val script = ScriptSource.create(AskedSource.Schema)
    val rows =
      timed(spark.readStream.format(classOf[ScriptProvider].getName), "script" -> script.id)
    val asked = timed(spark.readStream.format(classOf[AskedSource].getName))
    val root = Files.createTempDirectory("checkpoint")
    val query =
      new TestQuery(rows.union(asked).asInstanceOf[DataFrame], "append", root.toString, Start)
    try {
      query.start(availableNow = false)
      feed(script)
      query.awaitIdle()
      val begun = batches(root)
      AskedSource.next = Seq(() => feed(script), () => query.jumpClock(Start + 3600000))
      val failure = intercept[StreamingQueryException](query.awaitIdle())
      assert(failure.getMessage.contains("CLOCK_STEP") && batches(root) == begun)
    } finally query.stop()
  }

  private def timed(
      reader: org.apache.spark.sql.streaming.DataStreamReader,
      options: (String, String)*
  ) = Eventtide.withWatermark(reader.options(options.toMap).load(), "ts", policy)

  private def feed(script: ScriptSource): Unit =
    script.add(spark.sql("SELECT timestamp_seconds(1704067200) AS ts").asInstanceOf[DataFrame])

  private def batches(root: Path): Set[String] =
    root.resolve("offsets").toFile.list.filterNot(_.startsWith(".")).toSet
}

/** A source without rows, which does something while it is asked for its latest offset. */
final class AskedSource extends TableProvider {
  override def inferSchema(options: CaseInsensitiveStringMap): StructType = AskedSource.Schema

  override def getTable(
      schema: StructType,
      partitioning: Array[Transform],
      properties: JMap[String, String]
  ): Table = new AskedTable
}

private object AskedSource {
  val Schema: StructType = StructType.fromDDL("ts timestamp")

  /** What is done by the next times that it is asked. */
  @volatile var next: Seq[() => Unit] = Nil

  def ask(): Unit = next.headOption.foreach { first =>
    next = next.tail
    first()
  }
}

private final class AskedTable extends Table with SupportsRead with Scan with MicroBatchStream {
  override def name: String = "asked"
  override def columns: Array[Column] =
    AskedSource.Schema.map(of => Column.create(of.name, of.dataType)).toArray
  override def capabilities: java.util.Set[TableCapability] =
    EnumSet.of(TableCapability.MICRO_BATCH_READ)
  override def newScanBuilder(options: CaseInsensitiveStringMap): ScanBuilder = () => this
  override def readSchema: StructType = AskedSource.Schema
  override def toMicroBatchStream(checkpointLocation: String): MicroBatchStream = this

  override def latestOffset(): Offset = {
    AskedSource.ask()
    initialOffset
  }

  override def initialOffset: Offset = AskedOffset
  override def deserializeOffset(json: String): Offset = AskedOffset
  override def planInputPartitions(start: Offset, end: Offset): Array[InputPartition] = Array.empty
  override def createReaderFactory(): PartitionReaderFactory =
    _ => throw new UnsupportedOperationException("there are no rows")
  override def commit(end: Offset): Unit = ()
  override def stop(): Unit = ()
}

private case object AskedOffset extends Offset {
  override def json: String = "0"
}
