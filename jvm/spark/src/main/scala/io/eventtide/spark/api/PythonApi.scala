package io.eventtide.spark.api

import java.util.function.{Function => JFunction}
import java.util.{List => JList, Map => JMap, UUID}

import scala.jdk.CollectionConverters._

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.Path
import org.apache.spark.sql.eventtide.{StreamExecutionAccess, TestQuery}
import org.apache.spark.sql.functions.xxhash64
import org.apache.spark.sql.streaming.{DataStreamWriter, StreamingQuery}
import org.apache.spark.sql.types.StructType
import org.apache.spark.sql.{Column, DataFrame, Row, SparkSession}

import io.eventtide.spark.BuildInfo
import io.eventtide.spark.checkpoint.CheckpointPath
import io.eventtide.spark.latelog.{
  LateCompaction,
  LateCompanion,
  LateHandlerQuery,
  LateOrphans,
  LateReaders,
  LateSource,
  RetainTempCheckpoint
}
import io.eventtide.spark.planning.{
  Backfill,
  ClassicSession,
  Drain,
  EventtideRequest,
  PlanExplanation,
  SessionGap,
  SessionValidator,
  SqlText,
  WindowState
}
import io.eventtide.spark.policies.PythonPolicies
import io.eventtide.spark.query.doctor.CheckpointReport
import io.eventtide.spark.query.history.{Timeline, Why, WhyQuestion}
import io.eventtide.spark.query.monitor.WatermarkReport
import io.eventtide.spark.query.run.QueryWatermarks
import io.eventtide.spark.query.state.StateRepartition
import io.eventtide.spark.testkit.{
  KernelOracle,
  PickledRows,
  ScriptProvider,
  ScriptQuery,
  ScriptSource
}

/** The entry points for Python, with Java types only: for `_jvm`, and for Spark Connect. */
object PythonApi {

  def version(): String = BuildInfo.version

  /** The Spark minor version that this jar is built for. */
  def sparkVersion(): String = BuildInfo.sparkMinor

  def isInstalled(session: SparkSession): Boolean =
    SessionValidator.isInstalled(ClassicSession.of(session))

  /** Adds a watermark or a window to a DataFrame.
    *
    * @param options
    *   what is requested, and its options; see `RequestBuilder`
    * @param columns
    *   lists of columns of the DataFrame, by name
    */
  def request(
      rows: DataFrame,
      options: JMap[String, String],
      columns: JMap[String, JList[Column]]
  ): DataFrame = {
    val lists = columns.asScala.map { case (name, list) => name -> list.asScala.toSeq }
    EventtideRequest.over(ClassicSession.rows(rows), options.asScala.toMap, lists.toMap)
  }

  /** Sets the function that calls the policies of this Python process. */
  def registerPolicies(function: JFunction[String, String]): Unit =
    PythonPolicies.register(function)

  /** The alias and the SQL text of a column; null if it lacks one of them. */
  def namedSql(column: Column): Array[String] =
    SqlText.named(column).map { case (name, text) => Array(name, text) }.orNull

  /** The state of a query's open windows, read from its checkpoint. */
  def readState(results: DataFrame, checkpoint: String): DataFrame =
    WindowState.read(ClassicSession.rows(results), checkpoint)

  /** The report on a query's last batch as JSON; null if the query has no Eventtide watermark. */
  def progressJson(session: SparkSession, queryId: String): String =
    reportOn(session, queryId).map(_.json).orNull

  /** Explains in a sentence why a query's watermark is delayed; null if it has no Eventtide
    * watermark.
    */
  def blame(session: SparkSession, queryId: String): String =
    reportOn(session, queryId).map(_.blame).orNull

  private def reportOn(session: SparkSession, queryId: String): Option[WatermarkReport] =
    QueryWatermarks.report(ClassicSession.of(session), UUID.fromString(queryId))

  def readLate(session: SparkSession, options: JMap[String, String]): DataFrame =
    session.read.format(LateSource.Name).options(options).load()

  /** The ids of the nodes of a plan that have late rows, in the order of their late logs. */
  def lateNodes(plan: DataFrame): JList[String] =
    LateHandlerQuery
      .nodesOf(ClassicSession.rows(plan).queryExecution.analyzed)
      .map(_.toString)
      .asJava

  /** Waits until a started query has a late log, or has ended. */
  def awaitLateLog(query: StreamingQuery): Unit = LateHandlerQuery.await(query): Unit

  /** Starts a query.
    *
    * @param isFollowed
    *   whether a companion follows the query until `releaseLate`
    * @param drains
    *   whether the query closes every window after its last row
    */
  def start(
      writer: DataStreamWriter[Row],
      isFollowed: Boolean,
      drains: Boolean
  ): StreamingQuery = {
    def started = if (isFollowed) RetainTempCheckpoint.during(writer.start()) else writer.start()
    if (drains) Drain.during(started) else started
  }

  /** Starts a query that reads a history in place of its stream, and ends. */
  def backfill(writer: DataStreamWriter[Row], history: DataFrame): StreamingQuery =
    Backfill.during(writer, ClassicSession.rows(history))(writer.start())

  /** The Eventtide error that caused a failure, as JSON; null if there is none. */
  def errorJson(failure: Throwable): String = ErrorReport.of(failure).orNull

  /** Announces a companion. Returns the options of its stream of late rows, and in the option
    * `companion` its checkpoint location; null if the query ended before it had a log.
    */
  def followLate(query: StreamingQuery, window: Int): JMap[String, String] =
    LateHandlerQuery.follow(query, window).map(_.asJava).orNull

  /** Whether Spark requires a name for each source of a query and its companion. */
  def hasNamedSources(query: StreamingQuery): Boolean = LateHandlerQuery.hasNames(query)

  /** Waits until a companion is tied to its query: each ends with the other. */
  def awaitCompanion(query: StreamingQuery, companion: StreamingQuery): Unit =
    LateCompanion.awaitBegin(query, companion)

  /** Removes the temporary checkpoint of a query whose companion has not begun. */
  def releaseLate(query: StreamingQuery): Unit = LateHandlerQuery.release(query, failed = false)

  /** Waits until a query and its companion have ended. Returns false if the time is up before.
    *
    * @param timeoutMs
    *   the time in milliseconds; negative for no limit
    */
  def awaitCalls(query: StreamingQuery, timeoutMs: Long): Boolean =
    LateCompanion.of(query).forall { companion =>
      if (timeoutMs < 0) companion.await()
      timeoutMs < 0 || companion.await(timeoutMs)
    }

  /** Waits for the calls of all committed batches of a query. */
  def catchUpCalls(query: StreamingQuery): Unit = LateCompanion.of(query).foreach(_.catchUp())

  /** The contents of a checkpoint, as JSON.
    *
    * @param plan
    *   the plan that is to continue from the checkpoint; null for none
    */
  def checkpointJson(session: SparkSession, checkpoint: String, plan: DataFrame): String = {
    val analyzed = Option(plan).map(ClassicSession.rows(_).queryExecution.analyzed)
    new CheckpointReport(CheckpointPath.read(checkpoint), conf(session), analyzed).json
  }

  /** Explains why a window is open or has closed, or why a row was late.
    *
    * @param question
    *   its options; see `WhyQuestion`
    */
  def why(session: SparkSession, checkpoint: String, question: JMap[String, String]): String = {
    val of = new Why(CheckpointPath.read(checkpoint), conf(session))
    of.answer(WhyQuestion.read(question.asScala.toMap))
  }

  /** The time in microseconds up to which the windows of the query are complete with the batch that a
    * `foreachBatch` writes; null if it is not known.
    */
  def completeUpTo(session: SparkSession): java.lang.Long =
    QueryWatermarks.current(ClassicSession.of(session)).flatMap(_.closesUpTo).map(Long.box).orNull

  def hasFile(session: SparkSession, path: String): Boolean = {
    val file = new Path(path)
    file.getFileSystem(conf(session)).exists(file)
  }

  /** The last batches of a checkpoint as a page of HTML.
    *
    * @param rows
    *   rows that the page draws: their arrival and their event time in microseconds; null for none
    */
  def timeline(session: SparkSession, checkpoint: String, rows: DataFrame): String = {
    val drawn = Option(rows).map { all => (first: Long, last: Long) =>
      val during = all.where(all("arrival").between(first, last))
      val some = during.orderBy(xxhash64(during("arrival"), during("event_time"))).limit(DrawnRows)
      some.collect().toSeq.map(of => of.getLong(0) -> of.getLong(1))
    }
    new Timeline(CheckpointPath.read(checkpoint), conf(session), drawn).html
  }

  // Of all rows, these; which ones depends on the rows alone.
  private val DrawnRows = 2000

  /** Finds the late files of a checkpoint that do not count. Deletes them, unless `dryRun` is set.
    *
    * @param lateTo
    *   the folders outside the checkpoint in which files may be deleted
    */
  def cleanLate(
      session: SparkSession,
      checkpoint: String,
      dryRun: Boolean,
      lateTo: JList[String]
  ): JList[String] = {
    val orphans = new LateOrphans(CheckpointPath.read(checkpoint), conf(session))
    val found = if (dryRun) orphans.find() else orphans.clean(lateTo.asScala.toSeq)
    found.map(_.path.toString).asJava
  }

  /** Merges small late files. Returns the numbers of batches, of files before, and of files after.
    */
  def compactLate(session: SparkSession, checkpoint: String, lateTo: JList[String]): JList[Int] = {
    val compaction =
      new LateCompaction(
        ClassicSession.of(session),
        CheckpointPath.read(checkpoint),
        LateCompaction.Every
      )
    val done = compaction.run(lateTo.asScala.toSeq)
    Seq(done.batches, done.filesBefore, done.filesAfter).asJava
  }

  /** Removes a reading stream from a late log, so that the log's retention no longer waits for it.
    */
  def forgetLateReader(session: SparkSession, checkpoint: String, reader: String): Unit = {
    val of = conf(session)
    new LateReaders(CheckpointPath.root(checkpoint, of), of).forget(reader)
  }

  /** Changes the number of partitions of the state of a checkpoint's windows. Returns the number
    * before.
    */
  def repartition(session: SparkSession, checkpoint: String, partitions: Int): Int =
    new StateRepartition(ClassicSession.of(session), CheckpointPath.read(checkpoint), partitions)
      .run()

  /** The checkpoint location of a running or stopped query. */
  def checkpointOf(query: StreamingQuery): String = StreamExecutionAccess.checkpointOf(query)

  /** The watermarks of a DataFrame, as JSON. */
  def explainJson(stream: DataFrame): String = PlanExplanation.json(ClassicSession.rows(stream))

  /** Creates a script for the test kit; rows added to it must have this schema. */
  def script(schema: StructType): ScriptSource = ScriptSource.create(schema)

  /** The stream over a script's rows. */
  def readScript(session: SparkSession, script: ScriptSource): DataFrame =
    session.readStream.format(classOf[ScriptProvider].getName).option("script", script.id).load()

  /** Rows of the test kit, as pickled by Python. */
  def localRows(session: SparkSession, pickled: Array[Byte], schema: StructType): DataFrame =
    PickledRows.dataFrame(ClassicSession.of(session), pickled, schema)

  /** Creates a query with a scripted clock, without starting it. */
  def scriptedQuery(
      result: DataFrame,
      outputMode: String,
      checkpoint: String,
      startMs: Long,
      realTime: Boolean = false
  ): TestQuery =
    ScriptQuery.of(ClassicSession.rows(result), outputMode, checkpoint, startMs, realTime)

  /** Starts a scripted query that reads the available rows, closes every window, and ends. */
  def drainScripted(query: TestQuery): Unit = Drain.during(query.start(availableNow = true))

  /** The gap of a row of a session in microseconds; null if it cannot be used. */
  def gapMicros(gap: Column): Column = SessionGap.micros(gap)

  /** Runs the last window of a plan in the kernel, without Spark. */
  def kernelRun(results: DataFrame): KernelOracle = KernelOracle.of(ClassicSession.rows(results))

  private def conf(session: SparkSession): Configuration =
    ClassicSession.of(session).sessionState.newHadoopConf()
}
