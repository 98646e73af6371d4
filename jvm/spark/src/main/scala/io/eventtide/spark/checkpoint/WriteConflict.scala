package io.eventtide.spark.checkpoint

import java.nio.{file => nio}
import java.util.ConcurrentModificationException
import java.util.regex.Pattern

import scala.jdk.CollectionConverters._

import org.apache.hadoop.fs.{FileAlreadyExistsException, Path}
import org.apache.spark.SparkThrowable
import org.apache.spark.internal.Logging
import org.apache.spark.sql.eventtide.StreamExecutionAccess

import io.eventtide.spark.EventtideException

/** Reports two runs of a query that write the same Spark file, in `offsets`, `commits` or `state`.
  * The second run ends there with Spark's error.
  */
private[spark] object WriteConflict extends Logging {

  /** Adds Eventtide's error as suppressed to the error that ended a query, if that is a write
    * conflict. The query's error is set by Spark and cannot be replaced.
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

  /** The Eventtide error for a start that failed before there was a query. */
  def onStart(failure: Throwable): Option[EventtideException] =
    Iterator.iterate(failure)(_.getCause).takeWhile(_ != null).collectFirst {
      case sparkError: ConcurrentModificationException with SparkThrowable
          if parameter(sparkError, "path").contains(QueryIdFile) =>
        takenOver(s"another run has begun in the same moment and written its file $QueryIdFile")
    }

  /** Whether a query has ended because another run has taken over its checkpoint. */
  def hasEnded(failure: Throwable): Boolean =
    EventtideException.in(failure).exists(_.condition == RunEpoch.TakenOver)

  /** The action of another run that caused this error. Defined only if the error names files of
    * this query, because an error from a user function may come from another query.
    */
  private[checkpoint] def find(cause: Throwable, root: Path, batchId: Long): Option[String] =
    cause match {
      case sparkError: SparkThrowable if sparkError.getCondition == ConcurrentUpdate =>
        val isOurs = parameter(sparkError, "batchId").contains(batchId.toString)
        Option.when(isOurs)(s"another run has written batch $batchId of $root")
      case sparkError: ConcurrentModificationException with SparkThrowable =>
        val log = parameter(sparkError, "path").filter(_.startsWith(s"$root/"))
        log.map(folder => s"another run has written batch $batchId in $folder")
      // From a file manager that detects the conflict before Spark has opened the file for writing.
      case exists @ (_: FileAlreadyExistsException | _: nio.FileAlreadyExistsException) =>
        val below = s"${Pattern.quote(root.toUri.getPath)}/\\S+".r
        val file = below.findFirstIn(Option(exists.getMessage).getOrElse(""))
        file.map(written => s"another run has written $written")
      // Spark reads both logs when it starts, the offset log first, which was still empty then.
      case failed: AssertionError if isAtStart(failed) =>
        Some(s"another run has begun and committed batches of $root")
      case _ => None
    }

  private def isAtStart(failed: AssertionError): Boolean =
    failed.getStackTrace.exists { frame =>
      frame.getMethodName == Start && frame.getClassName.endsWith(".MicroBatchExecution")
    }

  private def takenOver(found: String) =
    EventtideException(RunEpoch.TakenOver, "found" -> found)

  private def parameter(error: SparkThrowable, name: String): Option[String] =
    error.getMessageParameters.asScala.get(name)

  private val Start = "initializeExecution"
  private val QueryIdFile = "metadata"
  private val ConcurrentUpdate = "CONCURRENT_STREAM_LOG_UPDATE"
}
