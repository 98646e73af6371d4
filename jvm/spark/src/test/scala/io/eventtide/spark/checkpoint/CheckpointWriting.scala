package io.eventtide.spark.checkpoint

import java.nio.charset.StandardCharsets.UTF_8
import java.nio.file.{Path => JavaPath}

import org.apache.hadoop.fs.Path
import org.apache.spark.sql.execution.streaming.checkpointing.CheckpointFileManager

/** Writes a file of a checkpoint as Spark does. */
private[checkpoint] trait CheckpointWriting {

  /** A file of the local disk, as the file system of the suite names it. */
  protected def path(file: JavaPath): Path

  protected def write(
      files: CheckpointFileManager,
      file: JavaPath,
      text: String,
      overwrite: Boolean = false
  ): Unit = {
    val out = files.createAtomic(path(file), overwrite)
    out.write(text.getBytes(UTF_8))
    out.close()
  }
}
