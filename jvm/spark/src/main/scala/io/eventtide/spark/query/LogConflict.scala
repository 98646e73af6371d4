package io.eventtide.spark.query

import java.nio.{file => nio}
import java.util.ConcurrentModificationException
import java.util.regex.Pattern

import scala.jdk.CollectionConverters._

import org.apache.hadoop.fs.{FileAlreadyExistsException, Path}
import org.apache.spark.SparkThrowable
import org.apache.spark.internal.Logging
import org.apache.spark.sql.eventtide.RunningQuery

import io.eventtide.spark.EventtideException

/** Two runs of a query that write the same batch into a log of Spark's own, as `offsets` or `commits`:
  * the second one ends there, by Spark's words.
  */
private[query] object LogConflict extends Logging {

  /** Puts our error beside the one that a query has ended by, if that is one of those: what a query
    * has ended by is Spark's, and cannot be another.
    */
  def name(query: RunningQuery): Unit =
    for {
      failure <- query.failure
      cause <- Option(failure.getCause)
      found <- find(cause, new Path(query.checkpointRoot), query.nextBatchId)
    } {
      val named = EventtideException("CHECKPOINT_TAKEN_OVER", "found" -> found)
      logError(named.getMessage)
      cause.addSuppressed(named)
    }

  /** What another run has done that this error comes from. Only where the query's own logs say it:
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
        val said = Option(exists.getMessage).getOrElse("")
        Logs
          .map(log => new Path(root, s"$log/$batchId").toUri.getPath)
          .find(file => s"${Pattern.quote(file)}(?!\\d)".r.findFirstIn(said).isDefined)
          .map(file => s"another run has written $file")
      // Spark reads both logs when it starts, the offsets first: these were none yet.
      case failed: AssertionError if isAtStart(failed) =>
        Some(s"another run has begun and committed batches of $root")
      case _ => None
    }

  private def isAtStart(failed: AssertionError): Boolean =
    failed.getStackTrace.exists { frame =>
      frame.getMethodName == Start && frame.getClassName.endsWith(".MicroBatchExecution")
    }

  private def parameter(error: SparkThrowable, name: String): Option[String] =
    error.getMessageParameters.asScala.get(name)

  private val Logs = Seq("offsets", "commits")
  private val Start = "populateStartOffsets"
  private val ConcurrentUpdate = "CONCURRENT_STREAM_LOG_UPDATE"
}
