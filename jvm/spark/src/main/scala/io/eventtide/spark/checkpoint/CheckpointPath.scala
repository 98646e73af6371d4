package io.eventtide.spark.checkpoint

import java.io.IOException

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.Path

import io.eventtide.spark.EventtideException

/** The location of a checkpoint, as users write it. */
private[spark] object CheckpointPath {

  /** Reads the location; fails with a named error if it is not a path. */
  def read(text: String): Path =
    try new Path(text)
    catch { case failure: IllegalArgumentException => refuse(text, failure) }

  /** The whole path of a location; fails with a named error if it has no file system. */
  def root(location: Path, conf: Configuration): Path =
    try location.getFileSystem(conf).makeQualified(location)
    catch {
      case failure: IOException => refuse(location.toString, failure)
      case failure: IllegalArgumentException => refuse(location.toString, failure)
    }

  def root(text: String, conf: Configuration): Path = root(read(text), conf)

  private def refuse(location: String, failure: Exception): Nothing =
    throw EventtideException(
      "CHECKPOINT_LOCATION_INVALID",
      "location" -> location,
      "reason" -> failure.getMessage
    )
}
