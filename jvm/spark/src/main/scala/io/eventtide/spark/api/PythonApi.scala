package io.eventtide.spark.api

import java.util.{List => JList, Map => JMap, UUID}

import scala.jdk.CollectionConverters._

import org.apache.hadoop.fs.Path
import org.apache.spark.sql.classic
import org.apache.spark.sql.eventtide.{StreamExecutionAccess, TestQuery}
import org.apache.spark.sql.streaming.{DataStreamWriter, StreamingQuery}
import org.apache.spark.sql.types.StructType
import org.apache.spark.sql.{Column, DataFrame, Row, SparkSession}

import io.eventtide.spark.latelog.{
  LateCompaction,
  LateHandlerQuery,
  LateOrphans,
  LateReaders,
  LateSource
}
import io.eventtide.spark.planning.{
  Drain,
  PlanExplanation,
  SessionValidator,
  WatermarkBuilder,
  WindowBuilder,
  WindowState
}
import io.eventtide.spark.query.doctor.CheckpointReport
import io.eventtide.spark.query.monitor.WatermarkReport
import io.eventtide.spark.query.run.{QueryWatermarks, WriteConflict}
import io.eventtide.spark.testkit.{KernelOracle, PickledRows, TestSource, TestStreamSource}
import io.eventtide.spark.{BuildInfo, EventtideException}

/** What Python calls, with Java types only; `_jvm` is its one caller. */
object PythonApi {

  def version(): String = BuildInfo.version

  /** The Spark minor that this jar is for. */
  def sparkVersion(): String = BuildInfo.sparkMinor

  def isInstalled(session: SparkSession): Boolean = SessionValidator.isInstalled(asClassic(session))

  def withWatermark(
      stream: DataFrame,
      eventTime: String,
      substream: JList[Column],
      options: JMap[String, String]
  ): DataFrame =
    WatermarkBuilder.withWatermark(
      asClassic(stream),
      eventTime,
      substream.asScala.toSeq,
      options.asScala.toMap
    )

  def withIngestionTime(stream: DataFrame, into: String, options: JMap[String, String]): DataFrame =
    WatermarkBuilder.withIngestionTime(asClassic(stream), into, options.asScala.toMap)

  /** A window over a DataFrame.
    *
    * @param eventTime
    *   null for the column that has the watermark
    * @param watermark
    *   the options of a watermark to put on it; null for a stream that has one
    * @param when
    *   the condition of early results; null for none
    * @param scope
    *   the columns whose values keys of one group have in common
    */
  def window(
      stream: DataFrame,
      eventTime: String,
      watermark: JMap[String, String],
      substream: JList[Column],
      keys: JList[Column],
      aggregates: JList[Column],
      when: Column,
      scope: JList[Column],
      options: JMap[String, String]
  ): DataFrame =
    WindowBuilder.window(
      asClassic(stream),
      Option(eventTime),
      Option(watermark).map(_.asScala.toMap),
      substream.asScala.toSeq,
      keys.asScala.toSeq,
      aggregates.asScala.toSeq,
      Option(when),
      scope.asScala.toSeq,
      options.asScala.toMap
    )

  /** What the open windows of a query hold, in its checkpoint. */
  def readState(results: DataFrame, checkpoint: String): DataFrame =
    WindowState.read(asClassic(results), checkpoint)

  /** The report on a query's last batch as JSON; null when it has no Eventtide watermark. */
  def progressJson(session: SparkSession, queryId: String): String =
    reportOn(session, queryId).map(_.json).orNull

  /** Who holds a query's watermark back, in a sentence; null when it has no Eventtide watermark. */
  def blame(session: SparkSession, queryId: String): String =
    reportOn(session, queryId).map(_.blame).orNull

  private def reportOn(session: SparkSession, queryId: String): Option[WatermarkReport] =
    QueryWatermarks.report(asClassic(session), UUID.fromString(queryId))

  def readLate(session: SparkSession, options: JMap[String, String]): DataFrame =
    session.read.format(LateSource.Name).options(options).load()

  /** Which window of what is written gave these results; -1 if none did. */
  def lateWindow(results: DataFrame, written: DataFrame): Int =
    LateHandlerQuery
      .windowOf(
        asClassic(results).queryExecution.analyzed,
        asClassic(written).queryExecution.analyzed
      )
      .getOrElse(-1)

  /** Waits until a query that has been started has a late log, or has ended. */
  def awaitLateLog(query: StreamingQuery): Unit = LateHandlerQuery.await(query): Unit

  /** Starts a query.
    *
    * @param isFollowed
    *   whether a companion follows it until `releaseLate`
    * @param drains
    *   whether it closes every window after its last row
    */
  def start(
      writer: DataStreamWriter[Row],
      isFollowed: Boolean,
      drains: Boolean
  ): StreamingQuery = {
    def started = if (isFollowed) LateHandlerQuery.start(writer) else writer.start()
    if (drains) Drain.during(started) else started
  }

  /** Our error for what a start ended by because of another driver's; null for any other. */
  def startConflict(failure: Throwable): EventtideException =
    WriteConflict.ofStart(failure).orNull

  /** The stream of a window's late rows for a companion; null if the query ended before it began. */
  def followLate(session: SparkSession, query: StreamingQuery, window: Int): DataFrame =
    LateHandlerQuery.follow(asClassic(session), query, window).orNull

  /** Ends what `start` began, once the companion is over. */
  def releaseLate(session: SparkSession, query: StreamingQuery, failed: Boolean): Unit =
    LateHandlerQuery.release(asClassic(session), query, failed)

  /** What a checkpoint holds, as JSON.
    *
    * @param plan
    *   what shall go on from it; null for nothing
    */
  def checkpointJson(session: SparkSession, checkpoint: String, plan: DataFrame): String = {
    val analyzed = Option(plan).map(asClassic(_).queryExecution.analyzed)
    val conf = asClassic(session).sessionState.newHadoopConf()
    new CheckpointReport(new Path(checkpoint), conf, analyzed).json
  }

  /** Late files of a checkpoint that count for nothing; they are deleted, unless it is a dry run.
    *
    * @param lateTo
    *   the folders outside the checkpoint in which that is allowed
    */
  def cleanLate(
      session: SparkSession,
      checkpoint: String,
      dryRun: Boolean,
      lateTo: JList[String]
  ): JList[String] = {
    val conf = asClassic(session).sessionState.newHadoopConf()
    val orphans = new LateOrphans(new Path(checkpoint), conf)
    val found = if (dryRun) orphans.find() else orphans.clean(lateTo.asScala.toSeq)
    found.map(_.path.toString).asJava
  }

  /** Makes large late files of small ones; how many batches, files before and files after. */
  def compactLate(session: SparkSession, checkpoint: String, lateTo: JList[String]): JList[Int] = {
    val compaction =
      new LateCompaction(asClassic(session), new Path(checkpoint), LateCompaction.Every)
    val done = compaction.run(lateTo.asScala.toSeq)
    Seq(done.batches, done.filesBefore, done.filesAfter).asJava
  }

  /** Lets a late log wait no longer for a stream that reads it. */
  def forgetLateReader(session: SparkSession, checkpoint: String, reader: String): Unit = {
    val conf = asClassic(session).sessionState.newHadoopConf()
    val path = new Path(checkpoint)
    new LateReaders(path.getFileSystem(conf).makeQualified(path), conf).forget(reader)
  }

  /** Where a query, running or stopped, has its checkpoint. */
  def checkpointOf(query: StreamingQuery): String = StreamExecutionAccess.checkpointOf(query)

  /** What watermarks a DataFrame has, as JSON. */
  def explainJson(stream: DataFrame): String = PlanExplanation.json(asClassic(stream))

  /** A script for the test kit; the rows that are added to it must have this schema. */
  def script(schema: StructType): TestSource = TestSource.create(schema)

  /** The stream that reads a script. */
  def readScript(session: SparkSession, script: TestSource): DataFrame =
    session.readStream.format(classOf[TestStreamSource].getName).option("script", script.id).load()

  /** Rows of the test kit, as Python has pickled them. */
  def localRows(session: SparkSession, pickled: Array[Byte], schema: StructType): DataFrame =
    PickledRows.dataFrame(asClassic(session), pickled, schema)

  /** A query under a scripted clock, not yet started. */
  def scriptedQuery(
      result: DataFrame,
      outputMode: String,
      checkpoint: String,
      startMs: Long
  ): TestQuery =
    new TestQuery(asClassic(result), outputMode, checkpoint, startMs)

  /** Starts a scripted query that reads what there is, closes every window, and ends. */
  def drainScripted(query: TestQuery): Unit = Drain.during(query.start(availableNow = true))

  /** The last window of a plan on the kernel alone. */
  def kernelRun(results: DataFrame): KernelOracle = KernelOracle.of(asClassic(results))

  private def asClassic(session: SparkSession): classic.SparkSession =
    session.asInstanceOf[classic.SparkSession]

  private def asClassic(stream: DataFrame): classic.DataFrame =
    stream.asInstanceOf[classic.DataFrame]
}
