package io.eventtide.spark.latelog

import java.nio.file.{Files, Path => LocalPath, Paths}
import java.time.Duration

import org.apache.commons.io.FileUtils
import org.apache.hadoop.fs.Path
import org.apache.spark.sql.eventtide.TestQuery
import org.apache.spark.sql.functions.{col, lit}
import org.apache.spark.sql.streaming.Trigger
import org.apache.spark.sql.types.StructType
import org.apache.spark.sql.{DataFrame, classic}

import io.eventtide.spark.api.PythonApi
import io.eventtide.spark.options.LateSettings
import io.eventtide.spark.query.run.QueryWatermarks
import io.eventtide.spark.testkit.{ScriptProvider, ScriptSource}
import io.eventtide.spark.{Eventtide, WatermarkPolicy}

/** A query that finds late rows, with a checkpoint of its own; its watermark is the highest time.
  *
  * @param change
  *   what a run does to the rows before it looks for late ones
  */
final class LateQuery(
    spark: classic.SparkSession,
    settings: LateSettings,
    change: DataFrame => DataFrame = identity,
    earlier: Option[LateQuery] = None,
    at: Option[LocalPath] = None
) {
  private val script: ScriptSource =
    earlier.fold(ScriptSource.create(StructType.fromDDL("ts timestamp, device string")))(_.script)
  private val folder: LocalPath =
    at.orElse(earlier.map(_.folder)).getOrElse(Files.createTempDirectory("checkpoint"))
  private var running = Option.empty[TestQuery]

  val checkpoint: String = folder.toUri.toString
  def root: Path = new Path(checkpoint)

  /** The same query in its next run, with other settings or columns. */
  def next(settings: LateSettings, change: DataFrame => DataFrame = identity): LateQuery =
    new LateQuery(spark, settings, change, Some(this))

  def marked: DataFrame = {
    val source =
      spark.readStream.format(classOf[ScriptProvider].getName).option("script", script.id).load()
    val policy = WatermarkPolicy.withFixedLag(Duration.ZERO)
    MarkLate.on(change(Eventtide.withWatermark(source, "ts", policy)), settings)
  }

  def start(result: DataFrame = marked, second: Long = 0): LateQuery = {
    val query = PythonApi.scriptedQuery(result, "append", checkpoint, startMs = second * 1000)
    query.start(availableNow = false)
    running = Some(query)
    this
  }

  /** Sets the clock of the run, in seconds since 1970. */
  def at(second: Long): Unit = running.get.setClock(second * 1000)

  /** One batch of rows at these seconds. */
  def feed(seconds: Long*): Unit = {
    add(seconds: _*)
    awaitIdle()
  }

  def add(seconds: Long*): Unit = {
    val rows = spark
      .createDataFrame(seconds.map(Tuple1(_)))
      .select(col("_1").cast("timestamp").as("ts"), lit("a").as("device"))
    script.add(rows.asInstanceOf[classic.DataFrame])
  }

  def awaitIdle(): Unit = running.get.awaitIdle()

  def stop(): Unit = running.foreach(_.stop())

  def report: String = QueryWatermarks.report(spark, running.get.query.id).get.json

  /** A copy of the checkpoint, with the same script of rows. */
  def copied(): LateQuery = {
    val copy =
      new LateQuery(spark, settings, change, Some(this), Some(Files.createTempDirectory("copy")))
    FileUtils.copyDirectory(folder.toFile, copy.folder.toFile)
    copy
  }

  /** Replaces the checkpoint by a copy. */
  def replaceBy(copy: LateQuery): Unit = {
    FileUtils.deleteDirectory(folder.toFile)
    FileUtils.copyDirectory(copy.folder.toFile, folder.toFile)
  }

  /** As if the query had been killed before Spark committed this batch. */
  def uncommit(batch: Long): Unit = {
    val commits = Paths.get(folder.toUri).resolve("commits")
    Files.delete(commits.resolve(batch.toString))
    Files.deleteIfExists(commits.resolve(s".$batch.crc")): Unit
  }

  def commits: Int = folder.resolve("commits").toFile.list().count(!_.startsWith("."))

  def lateFiles: Int = folder.resolve("late").toFile.list().count(_.endsWith(".parquet"))

  def read: DataFrame =
    spark.read.format("eventtide-late").option("checkpoint", checkpoint).load()

  def readOf(window: Long): DataFrame = spark.read
    .format("eventtide-late")
    .option("checkpoint", checkpoint)
    .option("window", window)
    .load()

  def readStream: DataFrame =
    spark.readStream.format("eventtide-late").option("checkpoint", checkpoint).load()

  /** What is in the log: the seconds of the rows, in order. */
  def late: Seq[Long] = LateQuery.seconds(read)

  /** Reads what is new for a stream with this folder; the seconds of all rows that it has ever read.
    *
    * @param most
    *   at most so many batches of this query at a time
    */
  def stream(into: LocalPath, most: Int, missing: String = "fail"): Seq[Long] = {
    val run = readStream(most, missing)
      .select("ts")
      .writeStream
      .format("parquet")
      .option("checkpointLocation", s"$into/checkpoint")
      .trigger(Trigger.AvailableNow())
      .start(s"$into/rows")
    assert(run.awaitTermination(60000))
    LateQuery.seconds(spark.read.schema("ts timestamp").parquet(s"$into/rows"))
  }

  private def readStream(most: Int, missing: String): DataFrame = spark.readStream
    .format("eventtide-late")
    .option("checkpoint", checkpoint)
    .option("maxBatchesPerTrigger", most.toLong)
    .option("missing", missing)
    .load()
}

object LateQuery {
  def seconds(rows: DataFrame): Seq[Long] =
    rows.selectExpr("unix_seconds(ts)").collect().map(_.getLong(0)).toSeq.sorted
}
