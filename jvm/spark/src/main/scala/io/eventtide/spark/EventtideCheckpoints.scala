package io.eventtide.spark

import java.time.Instant

import scala.annotation.varargs

import org.apache.spark.sql.eventtide.StreamExecutionAccess
import org.apache.spark.sql.streaming.StreamingQuery
import org.apache.spark.sql.{DataFrame, Row, SparkSession}

import io.eventtide.spark.checkpoint.CheckpointPath
import io.eventtide.spark.latelog.{
  LateCompaction,
  LateHandlerQuery,
  LateOrphans,
  LateReaders,
  LateSource
}
import io.eventtide.spark.planning.{ClassicSession, WindowState}
import io.eventtide.spark.query.doctor
import io.eventtide.spark.query.history.WhyQuestion.OfWindow
import io.eventtide.spark.query.history.{Why, WhyQuestion}
import io.eventtide.spark.query.state.StateRepartition
import io.eventtide.spark.source.CompletenessSource

/** The calls that read and maintain a checkpoint. A running query may be in place of its path. */
private[spark] trait EventtideCheckpoints {

  /** The current late rows of a query as a batch: the columns of the rows, then `_substream`,
    * `_key`, `_event_time`, `_watermark`, `_late_by`, `_reason`, `_windows_missed` and `_batch_id`.
    *
    * The result has the rows of committed batches only. The same log as a stream is
    * `spark.readStream.format("eventtide-late").option("checkpoint", path)`.
    */
  def lateRows(query: StreamingQuery): DataFrame = {
    LateHandlerQuery.await(query): Unit
    lateRows(query.sparkSession, StreamExecutionAccess.checkpointOf(query))
  }

  /** As above, of one of several windows, by its position from 0. */
  def lateRows(query: StreamingQuery, window: Int): DataFrame = {
    LateHandlerQuery.await(query): Unit
    lateRows(query.sparkSession, StreamExecutionAccess.checkpointOf(query), window)
  }

  /** The late rows in a checkpoint. */
  def lateRows(session: SparkSession, checkpoint: String): DataFrame =
    session.read.format(LateSource.Name).option("checkpoint", checkpoint).load()

  /** The late rows in a checkpoint, of one of several windows, by its position from 0. */
  def lateRows(session: SparkSession, checkpoint: String, window: Int): DataFrame =
    session.read
      .format(LateSource.Name)
      .option("checkpoint", checkpoint)
      .option("window", window.toLong)
      .load()

  /** The windows of a query that have closed, as a batch: `window`, `closed_at`, `batch_id`, `rows`,
    * `late` and `expected_missing`, the number of rows that were expected to come too late.
    *
    * The result has the windows that committed batches have closed, each once. The same as a stream is
    * `spark.readStream.format("eventtide-completeness").option("checkpoint", path)`.
    */
  def completeness(query: StreamingQuery): DataFrame =
    completeness(query.sparkSession, StreamExecutionAccess.checkpointOf(query))

  /** As above, of one of several windows, by its position from 0. */
  def completeness(query: StreamingQuery, window: Int): DataFrame =
    completeness(query.sparkSession, StreamExecutionAccess.checkpointOf(query), window)

  /** The closed windows in a checkpoint. */
  def completeness(session: SparkSession, checkpoint: String): DataFrame =
    completeness(session, checkpoint, window = 0)

  /** The closed windows in a checkpoint, of one of several windows, by its position from 0. */
  def completeness(session: SparkSession, checkpoint: String, window: Int): DataFrame =
    session.read
      .format(CompletenessSource.Name)
      .option("checkpoint", checkpoint)
      .option("window", window.toLong)
      .load()

  /** The current results of the open windows of a query, as if they closed after the last committed
    * batch. If each key has its own watermark, `_watermark` is the watermark of the key.
    *
    * @param window
    *   the window of the query; it may be over other rows with the same columns
    */
  def openWindows(query: StreamingQuery, window: WindowBuilder): DataFrame =
    openWindows(StreamExecutionAccess.checkpointOf(query), window)

  /** The open windows in a checkpoint. */
  def openWindows(checkpoint: String, window: WindowBuilder): DataFrame =
    WindowState.read(ClassicSession.rows(window.results), checkpoint)

  /** The contents of a query's checkpoint; nothing is written. */
  def checkpoint(query: StreamingQuery): CheckpointReport =
    checkpoint(query.sparkSession, StreamExecutionAccess.checkpointOf(query))

  /** The contents of a checkpoint; nothing is written, and its query may be running. */
  def checkpoint(session: SparkSession, checkpoint: String): CheckpointReport =
    report(session, checkpoint, None)

  /** As above, and whether a plan can continue from the checkpoint. */
  def checkpoint(session: SparkSession, checkpoint: String, plan: DataFrame): CheckpointReport =
    report(session, checkpoint, Some(plan))

  private def report(
      session: SparkSession,
      checkpoint: String,
      plan: Option[DataFrame]
  ): CheckpointReport = {
    val analyzed = plan.map(ClassicSession.rows(_).queryExecution.analyzed)
    val found =
      new doctor.CheckpointReport(CheckpointPath.read(checkpoint), conf(session), analyzed)
    CheckpointReport.read(found.json)
  }

  /** Explains why a window is open, or when it closed and by what, in a few sentences.
    *
    * @param start
    *   the start of the window
    * @param end
    *   its end
    */
  def why(query: StreamingQuery, start: Instant, end: Instant): String =
    why(query.sparkSession, StreamExecutionAccess.checkpointOf(query), start, end)

  /** As above, by a checkpoint. */
  def why(session: SparkSession, checkpoint: String, start: Instant, end: Instant): String =
    why(session, checkpoint, start, end, window = 0)

  /** As above, for one of several windows, by its position from 0. */
  def why(
      session: SparkSession,
      checkpoint: String,
      start: Instant,
      end: Instant,
      window: Int
  ): String = {
    val question = OfWindow(window, WhyQuestion.since(start), WhyQuestion.since(end))
    new Why(CheckpointPath.read(checkpoint), conf(session)).answer(question)
  }

  /** Explains why a row was late: which batch and substream moved the watermark past it, and the lag
    * with which it would have been on time.
    *
    * @param row
    *   a row of `lateRows`
    */
  def whyLate(query: StreamingQuery, row: Row): String =
    whyLate(query.sparkSession, StreamExecutionAccess.checkpointOf(query), row)

  /** As above, by a checkpoint. */
  def whyLate(session: SparkSession, checkpoint: String, row: Row): String =
    whyLate(session, checkpoint, row, window = 0)

  /** As above, for a row of one of several windows, by its position from 0. */
  def whyLate(session: SparkSession, checkpoint: String, row: Row, window: Int): String =
    new Why(CheckpointPath.read(checkpoint), conf(session)).answer(WhyQuestion.of(row, window))

  /** The late files of a checkpoint that do not count; nothing is deleted. */
  def orphanedLateFiles(session: SparkSession, checkpoint: String): Seq[String] =
    new LateOrphans(CheckpointPath.read(checkpoint), conf(session)).find().map(_.path.toString)

  /** Deletes the late files of a checkpoint that do not count, and returns them.
    *
    * @param lateTo
    *   the folders outside of the checkpoint in which files may be deleted
    */
  @varargs def cleanLate(
      session: SparkSession,
      checkpoint: String,
      lateTo: String*
  ): Seq[String] =
    new LateOrphans(CheckpointPath.read(checkpoint), conf(session))
      .clean(lateTo)
      .map(_.path.toString)

  /** Merges small late files of committed batches; the numbers of batches and of files. */
  @varargs def compactLate(
      session: SparkSession,
      checkpoint: String,
      lateTo: String*
  ): CompactedLateFiles = {
    val classicSession = ClassicSession.of(session)
    val done =
      new LateCompaction(classicSession, CheckpointPath.read(checkpoint), LateCompaction.Every)
        .run(lateTo)
    CompactedLateFiles(done.batches, done.filesBefore, done.filesAfter)
  }

  /** Removes a reading stream from a late log, so that the log's retention no longer waits for it.
    *
    * @param reader
    *   its id, as in `CheckpointReport.lateReaders`
    */
  def forgetLateReader(session: SparkSession, checkpoint: String, reader: String): Unit = {
    val of = conf(session)
    new LateReaders(CheckpointPath.root(checkpoint, of), of).forget(reader)
  }

  /** Changes the number of partitions of the state of a checkpoint's windows, whose query must be
    * stopped. Returns the number before.
    */
  def repartition(session: SparkSession, checkpoint: String, partitions: Int): Int =
    new StateRepartition(
      ClassicSession.of(session),
      CheckpointPath.read(checkpoint),
      partitions
    ).run()

  private def conf(session: SparkSession) =
    ClassicSession.of(session).sessionState.newHadoopConf()
}

/** The result of `Eventtide.compactLate`: the number of compacted batches, and of their files. */
final case class CompactedLateFiles(batches: Int, filesBefore: Int, filesAfter: Int)
