package io.eventtide.spark.testkit

import java.util.concurrent.ConcurrentHashMap
import java.util.{List => JList, Map => JMap, UUID}

import scala.collection.mutable
import scala.jdk.CollectionConverters._

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.classic.DataFrame
import org.apache.spark.sql.connector.catalog.{Table, TableProvider}
import org.apache.spark.sql.connector.expressions.Transform
import org.apache.spark.sql.connector.read.InputPartition
import org.apache.spark.sql.types.StructType
import org.apache.spark.sql.util.CaseInsensitiveStringMap

import io.eventtide.spark.spi.StreamTable

/** The rows that a script feeds to a query. They stay on the driver, so that any run can read them
  * again.
  *
  * Each added batch is one micro-batch, even if several are pending.
  */
final class ScriptSource private (val id: String, val schema: StructType) {
  private val batches = mutable.ArrayBuffer.empty[Seq[Array[InternalRow]]]

  /** Adds a batch with one input partition for each partition of the DataFrame. */
  def add(rows: DataFrame): Unit = {
    val added = rows.queryExecution.toRdd
      .mapPartitions(partition => Iterator(partition.map(_.copy()).toArray))
      .collect()
    synchronized(batches += added.toSeq)
  }

  /** Adds one batch for each list of pickled rows; see `addAll`. */
  def add(pickled: JList[Array[Byte]], partitions: Int): Unit =
    addAll(pickled.asScala.map(PickledRows.read(_, schema)).toSeq, partitions)

  /** Adds batches of rows, atomically, so that no query runs in between.
    *
    * @param partitions
    *   the number of partitions over which the rows of each batch are spread round-robin
    */
  def addAll(rows: Seq[Seq[InternalRow]], partitions: Int): Unit = {
    val added = rows.map(_.toArray).map { batch =>
      (0 until partitions).map(n => Array.range(n, batch.length, partitions).map(batch))
    }
    synchronized(batches ++= added)
  }

  /** Releases the rows. */
  def close(): Unit = ScriptSource.forget(id)

  def length: Int = synchronized(batches.length)

  /** The rows of a batch, of all its partitions; None if it was not added yet. */
  def rows(batch: Int): Option[Array[InternalRow]] = synchronized {
    batches.lift(batch).map(_.flatten.toArray)
  }

  def partitions(from: Int, until: Int): Array[InputPartition] = synchronized {
    batches.slice(from, until).flatten.map(ScriptPartition(_): InputPartition).toArray
  }
}

object ScriptSource {
  private val open = new ConcurrentHashMap[String, ScriptSource]

  def create(schema: StructType): ScriptSource = {
    val script = new ScriptSource(UUID.randomUUID().toString, schema)
    open.put(script.id, script)
    script
  }

  def find(id: String): ScriptSource = open.get(id)

  private def forget(id: String): Unit = open.remove(id)
}

/** Reads a script: set the option `script` to its id. The format is the class name,
  * `io.eventtide.spark.testkit.ScriptProvider`.
  */
final class ScriptProvider extends TableProvider {
  override def inferSchema(options: CaseInsensitiveStringMap): StructType =
    ScriptSource.find(options.get("script")).schema

  override def getTable(
      schema: StructType,
      partitioning: Array[Transform],
      properties: JMap[String, String]
  ): Table = {
    val script = ScriptSource.find(properties.get("script"))
    new StreamTable("script", script.schema, () => new ScriptStream(script))
  }
}
