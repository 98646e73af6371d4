package io.eventtide.spark

import scala.util.control.NonFatal

import org.apache.spark.sql.DataFrame
import org.apache.spark.sql.eventtide.SparkInternals
import org.apache.spark.sql.streaming.{DataStreamWriter, StreamingQuery}

import io.eventtide.spark.checkpoint.WriteConflict
import io.eventtide.spark.latelog.{LateHandlerQuery, RetainTempCheckpoint}
import io.eventtide.spark.options.WindowConflicts
import io.eventtide.spark.planning.{Backfill, ClassicSession, Drain}

/** Starts queries, also those that close every window after their last row, or read a history. */
private[spark] object QueryStart {

  def ofWindow(
      results: DataFrame,
      writer: DataStreamWriter[_],
      drain: Boolean,
      handler: Option[LateHandler]
  ): StreamingQuery = {
    val written = SparkInternals.written(writer).queryExecution.analyzed
    val own = ClassicSession.rows(results).queryExecution.analyzed
    val window = LateHandlerQuery.windowOf(own, written).getOrElse {
      val problem = "does not write the results of this window"
      val allowed = "a writer over results, or over a DataFrame derived from them"
      val fix = "Use window.start(window.results.writeStream.format('console'))"
      WindowConflicts.refuse("writer", writer.getClass.getSimpleName, problem, allowed, fix)
    }
    handler.fold(start(writer, drain)) { handler =>
      val main = RetainTempCheckpoint.during(start(writer, drain))
      try handler.follow(main, window)
      catch {
        case NonFatal(failure) =>
          main.stop()
          LateHandlerQuery.release(main, failed = false)
          throw failure
      }
    }
  }

  /** Starts a writer. If another driver's run has prevented it, the error says so. */
  def start(writer: DataStreamWriter[_], drain: Boolean): StreamingQuery =
    try if (drain) Drain.during(writer.start()) else writer.start()
    catch { case failure: Exception => throw WriteConflict.onStart(failure).getOrElse(failure) }

  /** Starts a writer over a stream with a history in place of the stream, until all of it is read.
    */
  def backfill(writer: DataStreamWriter[_], history: DataFrame): StreamingQuery =
    Backfill.during(writer, ClassicSession.rows(history))(start(writer, drain = false))
}
