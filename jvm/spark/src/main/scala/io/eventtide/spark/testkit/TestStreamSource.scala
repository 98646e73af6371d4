package io.eventtide.spark.testkit

import java.util.concurrent.ConcurrentHashMap
import java.util.{EnumSet, List => JList, Map => JMap, UUID}

import scala.collection.mutable
import scala.jdk.CollectionConverters._

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.classic.DataFrame
import org.apache.spark.sql.connector.catalog.{
  Column,
  SupportsRead,
  Table,
  TableCapability,
  TableProvider
}
import org.apache.spark.sql.connector.expressions.Transform
import org.apache.spark.sql.connector.read.streaming.{
  MicroBatchStream,
  Offset,
  ReadLimit,
  SupportsTriggerAvailableNow
}
import org.apache.spark.sql.connector.read.{
  InputPartition,
  PartitionReader,
  PartitionReaderFactory,
  Scan,
  ScanBuilder
}
import org.apache.spark.sql.types.StructType
import org.apache.spark.sql.util.CaseInsensitiveStringMap

/** The rows that a script feeds to a query. They stay on the driver, so that any run can read them
  * again.
  *
  * Each added batch is one micro-batch, even if several are pending.
  */
final class TestSource private (val id: String, val schema: StructType) {
  private val batches = mutable.ArrayBuffer.empty[Seq[Array[InternalRow]]]

  /** Adds a batch with one input partition for each partition of the DataFrame. */
  def add(rows: DataFrame): Unit = {
    val added = rows.queryExecution.toRdd
      .mapPartitions(partition => Iterator(partition.map(_.copy()).toArray))
      .collect()
    synchronized(batches += added.toSeq)
  }

  /** Adds one batch for each list of rows, atomically, so that no query runs in between.
    *
    * @param partitions
    *   the number of partitions over which the rows of each batch are spread round-robin
    */
  def add(pickled: JList[Array[Byte]], partitions: Int): Unit = {
    val added = pickled.asScala.map { batch =>
      val rows = PickledRows.read(batch, schema).toArray
      (0 until partitions).map(n => Array.range(n, rows.length, partitions).map(rows))
    }
    synchronized(batches ++= added)
  }

  /** Releases the rows. */
  def close(): Unit = TestSource.forget(id)

  def length: Int = synchronized(batches.length)

  def partitions(from: Int, until: Int): Array[InputPartition] = synchronized {
    batches.slice(from, until).flatten.map(ScriptPartition(_): InputPartition).toArray
  }
}

object TestSource {
  private val open = new ConcurrentHashMap[String, TestSource]

  def create(schema: StructType): TestSource = {
    val script = new TestSource(UUID.randomUUID().toString, schema)
    open.put(script.id, script)
    script
  }

  def find(id: String): TestSource = open.get(id)

  private def forget(id: String): Unit = open.remove(id)
}

/** Reads a script: set the option `script` to its id. The format is the class name,
  * `io.eventtide.spark.testkit.TestStreamSource`.
  */
final class TestStreamSource extends TableProvider {
  override def inferSchema(options: CaseInsensitiveStringMap): StructType =
    TestSource.find(options.get("script")).schema

  override def getTable(
      schema: StructType,
      partitioning: Array[Transform],
      properties: JMap[String, String]
  ): Table = new ScriptTable(TestSource.find(properties.get("script")))
}

private final class ScriptTable(script: TestSource) extends Table with SupportsRead {
  override def name: String = "script"

  override def columns: Array[Column] =
    script.schema.fields.map(field => Column.create(field.name, field.dataType, field.nullable))

  override def capabilities: java.util.Set[TableCapability] =
    EnumSet.of(TableCapability.MICRO_BATCH_READ)

  override def newScanBuilder(options: CaseInsensitiveStringMap): ScanBuilder =
    () => new ScriptScan(script)
}

private final class ScriptScan(script: TestSource) extends Scan {
  override def readSchema: StructType = script.schema

  override def toMicroBatchStream(checkpointLocation: String): MicroBatchStream =
    new ScriptStream(script)
}

private final case class ScriptOffset(batches: Int) extends Offset {
  override def json: String = batches.toString
}

private final class ScriptStream(script: TestSource)
    extends MicroBatchStream
    with SupportsTriggerAvailableNow {

  private var end: Option[Int] = None

  override def prepareForTriggerAvailableNow(): Unit = end = Some(script.length)

  override def latestOffset(start: Offset, limit: ReadLimit): Offset = {
    val read = start.asInstanceOf[ScriptOffset].batches
    val next = math.min(read + 1, end.getOrElse(script.length))
    if (next == 0) null else ScriptOffset(next)
  }

  override def reportLatestOffset(): Offset = ScriptOffset(script.length)

  override def latestOffset(): Offset =
    throw new UnsupportedOperationException("latestOffset(Offset, ReadLimit) is used")

  override def initialOffset: Offset = ScriptOffset(0)

  override def deserializeOffset(json: String): Offset = ScriptOffset(json.toInt)

  override def planInputPartitions(start: Offset, end: Offset): Array[InputPartition] =
    script.partitions(
      start.asInstanceOf[ScriptOffset].batches,
      end.asInstanceOf[ScriptOffset].batches
    )

  override def createReaderFactory(): PartitionReaderFactory = ScriptReaders

  override def commit(end: Offset): Unit = ()

  override def stop(): Unit = ()
}

private final case class ScriptPartition(rows: Array[InternalRow]) extends InputPartition

private object ScriptReaders extends PartitionReaderFactory {
  override def createReader(partition: InputPartition): PartitionReader[InternalRow] =
    new PartitionReader[InternalRow] {
      private val rows = partition.asInstanceOf[ScriptPartition].rows
      private var read = -1

      override def next(): Boolean = { read += 1; read < rows.length }
      override def get(): InternalRow = rows(read)
      override def close(): Unit = ()
    }
}
