package io.eventtide.spark.latelog

import scala.util.Try

import org.apache.hadoop.fs.Path
import org.apache.hadoop.mapreduce.task.TaskAttemptContextImpl
import org.apache.hadoop.mapreduce.{Job, TaskAttemptID}
import org.apache.spark.broadcast.Broadcast
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.classic.SparkSession
import org.apache.spark.sql.execution.datasources.parquet.ParquetFileFormat
import org.apache.spark.sql.execution.datasources.{OutputWriter, OutputWriterFactory}
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.types.StructType
import org.apache.spark.util.SerializableConfiguration

/** How tasks write the late rows of one node: made once a run, on the driver. */
private[latelog] final class LateFiles private (
    folder: String,
    schema: StructType,
    conf: Broadcast[SerializableConfiguration],
    writers: OutputWriterFactory
) extends Serializable {

  /** Begins a file with a name that no other attempt of the task has. */
  def create(batchId: Long, partition: Int): LateFile =
    create(LateFileName.ofTask(batchId, partition, _))

  /** Begins one with rows of several batches. */
  def createPart(batches: BatchRange, part: Int): LateFile =
    create(LateFileName.ofCompaction(batches, part, _))

  private def create(name: String => String): LateFile = {
    val context = new TaskAttemptContextImpl(conf.value.value, new TaskAttemptID())
    val path = new Path(folder, name(writers.getFileExtension(context)))
    new LateFile(path, context, writers.newInstance(path.toString, schema, context))
  }
}

private[latelog] object LateFiles {

  def apply(session: SparkSession, folder: Path, schema: StructType): LateFiles = {
    val job = Job.getInstance(session.sessionState.newHadoopConf())
    // Not the default: Parquet keeps no lowest and highest of that one, by which a reader skips rows.
    job.getConfiguration.set(SQLConf.PARQUET_OUTPUT_TIMESTAMP_TYPE.key, "TIMESTAMP_MICROS")
    job.getConfiguration.set(SQLConf.PARQUET_WRITE_LEGACY_FORMAT.key, "false")
    val writers = new ParquetFileFormat().prepareWrite(session, job, Map.empty, schema)
    val conf = new SerializableConfiguration(job.getConfiguration)
    new LateFiles(folder.toString, schema, session.sparkContext.broadcast(conf), writers)
  }
}

/** One file of late rows, at its final path from the beginning: it counts once an index names it. */
private[latelog] final class LateFile(
    path: Path,
    context: TaskAttemptContextImpl,
    writer: OutputWriter
) {
  private var open = true

  def name: String = path.getName

  def write(row: InternalRow): Unit = writer.write(row)

  /** Ends the file; its length in bytes. */
  def close(): Long = {
    open = false
    writer.close()
    path.getFileSystem(context.getConfiguration).getFileStatus(path).getLen
  }

  /** Removes it as far as that is possible; what stays is an orphan. */
  def discard(): Unit = {
    if (open) Try(writer.close())
    Try(path.getFileSystem(context.getConfiguration).delete(path, false)): Unit
  }
}
