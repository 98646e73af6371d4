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

/** Creates the late files of one node in tasks. The driver makes one instance per run. */
private[latelog] final class LateFiles private (
    folder: String,
    schema: StructType,
    conf: Broadcast[SerializableConfiguration],
    writers: OutputWriterFactory
) extends Serializable {

  /** Creates a file whose name is unique to the task attempt. */
  def create(batchId: Long, partition: Int): LateFileWriter =
    create(LateFileInfo.taskFile(batchId, partition, _))

  /** Creates a file for rows of several batches. */
  def createPart(batches: BatchRange, part: Int): LateFileWriter =
    create(LateFileInfo.compactionFile(batches, part, _))

  private def create(name: String => String): LateFileWriter = {
    val context = new TaskAttemptContextImpl(conf.value.value, new TaskAttemptID())
    val path = new Path(folder, name(writers.getFileExtension(context)))
    new LateFileWriter(path, context, writers.newInstance(path.toString, schema, context))
  }
}

private[latelog] object LateFiles {

  def apply(session: SparkSession, folder: Path, schema: StructType): LateFiles = {
    val job = Job.getInstance(session.sessionState.newHadoopConf())
    // Not the default timestamp type: Parquet stores no min/max statistics for it, which readers
    // need to skip rows.
    job.getConfiguration.set(SQLConf.PARQUET_OUTPUT_TIMESTAMP_TYPE.key, "TIMESTAMP_MICROS")
    job.getConfiguration.set(SQLConf.PARQUET_WRITE_LEGACY_FORMAT.key, "false")
    val writers = new ParquetFileFormat().prepareWrite(session, job, Map.empty, schema)
    val conf = new SerializableConfiguration(job.getConfiguration)
    new LateFiles(folder.toString, schema, session.sparkContext.broadcast(conf), writers)
  }
}

/** One file of late rows. It is written at its final path, and counts once an index names it. */
private[latelog] final class LateFileWriter(
    path: Path,
    context: TaskAttemptContextImpl,
    writer: OutputWriter
) {
  private var open = true

  def name: String = path.getName

  def write(row: InternalRow): Unit = writer.write(row)

  /** Closes the file and returns its length in bytes. */
  def close(): Long = {
    open = false
    writer.close()
    path.getFileSystem(context.getConfiguration).getFileStatus(path).getLen
  }

  /** Deletes the file on a best-effort basis; a file that remains is an orphan. */
  def discard(): Unit = {
    if (open) Try(writer.close())
    Try(path.getFileSystem(context.getConfiguration).delete(path, false)): Unit
  }
}
