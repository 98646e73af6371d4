package io.eventtide.spark.testkit

import java.nio.file.Files
import java.time.Instant
import java.util.function.{Function => JFunction}

import scala.annotation.varargs
import scala.jdk.CollectionConverters._

import org.apache.hadoop.fs.Path
import org.apache.spark.sql.streaming.StreamingQuery
import org.apache.spark.sql.types.StructType
import org.apache.spark.sql.{DataFrame, Row, SparkSession, classic}

import io.eventtide.spark.planning.{ClassicSession, Drain}

/** Runs a real streaming query, step by step, with a scripted source and a scripted clock.
  *
  * {{{
  *   val script = Script(spark, "ts timestamp, user string")(minutes)
  *   try {
  *     script.rows(Row("2024-01-01 00:00:07", "a")).expect()
  *     script.clock("+1m").expectWatermark("2024-01-01 00:00:32")
  *   } finally script.close()
  * }}}
  *
  *   - '''Guarantee:''' each step waits until the query has no more work. Nothing sleeps, and batch
  *     timestamps, lulls and idle timeouts follow the script's clock.
  *   - '''Units:''' times are text in UTC, also in rows: `2024-01-01 00:00:07.25`.
  *   - '''Edges:''' `expect` throws an `AssertionError` that lists missing and unexpected rows.
  *   - '''Restart:''' `restart` continues from the checkpoint, a temporary folder until `close`.
  */
final class Script private (
    session: classic.SparkSession,
    source: ScriptSource,
    query: DataFrame => DataFrame,
    clock: String,
    outputMode: String,
    realTime: Boolean
) extends AutoCloseable {

  /** The folder of the query's checkpoint. */
  val checkpoint: String = Files.createTempDirectory("eventtide-script-").toString

  /** The schema of the scripted stream. */
  def streamSchema: StructType = source.schema

  /** The result of the query, as a streaming DataFrame. */
  val result: DataFrame = query(
    session.readStream
      .format(classOf[ScriptProvider].getName)
      .option("script", source.id)
      .load()
  )

  private val run = ScriptQuery.of(
    ClassicSession.rows(result),
    outputMode,
    checkpoint,
    ScriptTimes.instant(clock).toEpochMilli,
    realTime
  )

  private def begin(): Script = {
    try {
      run.start(availableNow = false)
      run.awaitIdle()
    } catch {
      case failure: Throwable =>
        close()
        throw failure
    }
    this
  }

  /** Adds rows to the source as one micro-batch with one partition, and runs the query. */
  @varargs def rows(rows: Row*): Script = {
    waiting(rows: _*)
    run.awaitIdle()
    this
  }

  /** Adds a micro-batch with the partitions of a DataFrame, and runs the query. */
  def rows(rows: DataFrame): Script = {
    source.add(ClassicSession.rows(rows))
    run.awaitIdle()
    this
  }

  /** Adds rows to the source without waiting for the query, which may be stopped. */
  @varargs def waiting(rows: Row*): Script = {
    val stored = rows.map(ScriptTimes.stored(_, source.schema))
    source.add(session.createDataFrame(stored.asJava, source.schema).coalesce(1))
    this
  }

  /** Sets the clock to a time, or moves it by a duration: `+5s`, `-1m`; and runs the query. */
  def clock(to: String): Script = {
    run.setClock(ScriptTimes.moved(now, to).toEpochMilli)
    run.awaitIdle()
    this
  }

  /** As `clock`, but as a clock step: no time elapses. */
  def jumpClock(to: String): Script = {
    run.jumpClock(ScriptTimes.moved(now, to).toEpochMilli)
    run.awaitIdle()
    this
  }

  /** Stops the query; `restart` continues from its checkpoint. */
  def stop(): Script = {
    run.stop()
    this
  }

  /** Stops the query if it runs, and restarts it from its checkpoint. */
  def restart(): Script = {
    run.stop()
    run.start(availableNow = false)
    run.awaitIdle()
    this
  }

  /** Restarts the query, reads the available rows, closes every window, and ends. */
  def drain(): Script = {
    run.stop()
    Drain.during(run.start(availableNow = true))
    run.query.awaitTermination()
    this
  }

  /** The result rows since the last call of `results` or `expect`. */
  def results(): Seq[Row] = run.newResults().collect().toSeq

  /** Compares the results since the last `results` or `expect`, in any order. */
  @varargs def expect(rows: Row*): Script = {
    val (wanted, got) = (rows.map(ScriptTimes.readable), results().map(ScriptTimes.readable))
    val missing = wanted.diff(got).map(row => s"missing: $row")
    val unexpected = got.diff(wanted).map(row => s"unexpected: $row")
    fail(missing ++ unexpected)
  }

  /** Compares the number of late rows in Spark's progress since the last call. */
  def expectLate(rows: Long): Script = {
    val found = run.newlyDropped()
    fail(Option.when(found != rows)(s"late: expected $rows, got $found").toSeq)
  }

  /** Compares the watermark for the next batch. */
  def expectWatermark(time: String): Script = {
    val wanted = ScriptTimes.text(ScriptTimes.instant(time))
    fail(Option.when(wanted != watermark)(s"watermark: expected $wanted, got $watermark").toSeq)
  }

  private def fail(faults: Seq[String]): Script =
    if (faults.isEmpty) this
    else throw new AssertionError((s"at ${ScriptTimes.text(now)}:" +: faults).mkString("\n"))

  /** The watermark for the next batch; 1970 while there is no watermark. */
  def watermark: String = ScriptTimes.text(Instant.ofEpochMilli(run.watermarkMs))

  /** The time of the clock. */
  def now: Instant = Instant.ofEpochMilli(run.nowMs)

  /** The current run, for `Eventtide.progress` and the like. */
  def streamingQuery: StreamingQuery = run.query

  /** Stops the query, releases its rows and removes its checkpoint. */
  override def close(): Unit = {
    run.stop()
    source.close()
    val folder = new Path(checkpoint)
    folder.getFileSystem(session.sessionState.newHadoopConf()).delete(folder, true): Unit
  }
}

object Script {
  private val Start = "2024-01-01 00:00:00"

  /** Starts a script.
    *
    * @param schema
    *   the schema of the stream: `ts timestamp, user string`
    * @param clock
    *   the time of the clock at the start
    * @param realTime
    *   whether the query runs in real-time mode, on Spark 4.3 with its settings. Each step is then a
    *   batch, whose rows come one by one from one partition. One such script can be open at a time.
    * @param query
    *   the query under test, as a function of the scripted stream
    */
  def apply(
      session: SparkSession,
      schema: String,
      clock: String = Start,
      outputMode: String = "append",
      realTime: Boolean = false
  )(query: DataFrame => DataFrame): Script = {
    val source = ScriptSource.create(StructType.fromDDL(schema))
    val classicSession = ClassicSession.of(session)
    val mode = if (realTime) "update" else outputMode
    new Script(classicSession, source, query, clock, mode, realTime).begin()
  }

  /** Starts a script, for Java. */
  def create(
      session: SparkSession,
      schema: String,
      query: JFunction[DataFrame, DataFrame]
  ): Script = apply(session, schema)(query.apply)
}
