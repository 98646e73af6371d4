package io.eventtide.spark.query.run

import java.nio.{file => nio}
import java.util.ConcurrentModificationException
import java.util.regex.Pattern

import scala.jdk.CollectionConverters._

import org.apache.hadoop.fs.{FileAlreadyExistsException, Path}
import org.apache.spark.SparkThrowable
import org.apache.spark.internal.Logging
import org.apache.spark.sql.eventtide.StreamExecutionAccess

import io.eventtide.spark.EventtideException

/** Two runs of a query that write the same file of Spark's own, as of `offsets`, `commits` or `state`:
  * the second one ends there, by Spark's words.
  */
private[spark] object WriteConflict extends Logging {

  /** Puts our error beside the one that a query has ended by, if that is one of those: what a query
    * has ended by is Spark's, and cannot be another.
    */
  def name(query: StreamExecutionAccess): Unit =
    for {
      failure <- query.failure
      cause <- Option(failure.getCause)
      found <- find(cause, new Path(query.checkpointRoot), query.nextBatchId)
    } {
      val named = takenOver(found)
      logError(named.getMessage)
      cause.addSuppressed(named)
    }

  /** Our error for that of a start which ended before there was a query. */
  def ofStart(failure: Throwable): Option[EventtideException] =
    Iterator.iterate(failure)(_.getCause).takeWhile(_ != null).collectFirst {
      case ofSpark: ConcurrentModificationException with SparkThrowable
          if parameter(ofSpark, "path").contains(IdOfQuery) =>
        takenOver(s"another run has begun in the same moment and written its file $IdOfQuery")
    }

  /** What another run has done that this error comes from. Only where the query's own files say it:
    * what a function of the user's throws may be of another query.
    */
  private[query] def find(cause: Throwable, root: Path, batchId: Long): Option[String] =
    cause match {
      case ofSpark: SparkThrowable if ofSpark.getCondition == ConcurrentUpdate =>
        val isOurs = parameter(ofSpark, "batchId").contains(batchId.toString)
        Option.when(isOurs)(s"another run has written batch $batchId of $root")
      case ofSpark: ConcurrentModificationException with SparkThrowable =>
        val log = parameter(ofSpark, "path").filter(_.startsWith(s"$root/"))
        log.map(folder => s"another run has written batch $batchId in $folder")
      // Of a file manager that finds it out before Spark has anything to write to.
      case exists @ (_: FileAlreadyExistsException | _: nio.FileAlreadyExistsException) =>
        val below = s"${Pattern.quote(root.toUri.getPath)}/\\S+".r
        val file = below.findFirstIn(Option(exists.getMessage).getOrElse(""))
        file.map(written => s"another run has written $written")
      // Spark reads both logs when it starts, the offsets first: these were none yet.
      case failed: AssertionError if isAtStart(failed) =>
        Some(s"another run has begun and committed batches of $root")
      case _ => None
    }

  private def isAtStart(failed: AssertionError): Boolean =
    failed.getStackTrace.exists { frame =>
      frame.getMethodName == Start && frame.getClassName.endsWith(".MicroBatchExecution")
    }

  private def takenOver(found: String) =
    EventtideException("CHECKPOINT_TAKEN_OVER", "found" -> found)

  private def parameter(error: SparkThrowable, name: String): Option[String] =
    error.getMessageParameters.asScala.get(name)

  private val Start = "initializeExecution"
  private val IdOfQuery = "metadata"
  private val ConcurrentUpdate = "CONCURRENT_STREAM_LOG_UPDATE"
}
