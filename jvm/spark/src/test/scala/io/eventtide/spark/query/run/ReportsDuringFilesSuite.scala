package io.eventtide.spark.query.run

import java.io.IOException
import java.nio.file.{Files, Path => LocalPath}
import java.util.UUID
import java.util.concurrent.{ConcurrentLinkedQueue, Executors, TimeUnit}

import scala.concurrent.{ExecutionContext, Future}
import scala.jdk.CollectionConverters._
import scala.util.{Failure, Success, Try}

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.{FSDataInputStream, FileStatus, Path, PathFilter}
import org.apache.spark.sql.execution.streaming.checkpointing.FileSystemBasedCheckpointFileManager
import org.apache.spark.sql.execution.streaming.runtime.StreamExecution
import org.apache.spark.sql.streaming.{StreamingQueryException, Trigger}
import org.apache.spark.sql.{Dataset, Row}
import org.scalatest.concurrent.Eventually.{eventually, timeout}
import org.scalatest.funsuite.AnyFunSuite
import org.scalatest.tagobjects.Slow
import org.scalatest.time.{Seconds, Span}

import io.eventtide.spark.query.monitor.WatermarkReport
import io.eventtide.spark.{LocalSession, RateWindows}

/** While a query waits for a file of its checkpoint, whoever asks for a report gets it. */
final class ReportsDuringFilesSuite extends AnyFunSuite with LocalSession {
  private val RowsOfBatch = 20
  private val askers = Executors.newCachedThreadPool()

  override protected def beforeAll(): Unit = {
    super.beforeAll()
    val rocks = "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"
    Map(
      "spark.sql.streaming.stateStore.providerClass" -> rocks,
      "spark.sql.streaming.checkpointFileManagerClass" -> classOf[WatchedFiles].getName,
      "spark.sql.streaming.metricsEnabled" -> "true",
      "spark.sql.shuffle.partitions" -> "1"
    ).foreachEntry((key, value) => spark.conf.set(key, value))
  }

  override protected def afterAll(): Unit = {
    askers.shutdownNow()
    super.afterAll()
  }

  /** Runs until it would commit a batch; what reports say at each call to the file system. */
  private def run(checkpoint: LocalPath, until: Long): Seq[Said] = {
    val said = new ConcurrentLinkedQueue[Try[Said]]
    WatchedFiles.atEachCall = { path =>
      val file = checkpoint.relativize(LocalPath.of(path.toUri.getPath)).toString
      if (!said.asScala.exists(_.isFailure)) said.addAll(whileWaiting(file).asJava): Unit
      if (file == s"commits/$until") throw new IOException("as if it were killed")
    }
    val counts = RateWindows.counts(RateWindows.events(spark, RowsOfBatch))
    val writer = counts.writeStream
      .foreachBatch((rows: Dataset[Row], _: Long) => rows.collect(): Unit)
      .option("checkpointLocation", checkpoint.toString)
      .trigger(Trigger.ProcessingTime(0))
    intercept[StreamingQueryException](writer.start().awaitTermination())
    said.asScala.toSeq.map {
      case Success(one) => one
      case Failure(problem) => fail(s"a report waits for a file: $problem", problem)
    }
  }

  // None where a file is not for a query that runs, as before its start.
  private def whileWaiting(file: String): Seq[Try[Said]] =
    Option(spark.sparkContext.getLocalProperty(StreamExecution.QUERY_ID_KEY)).toSeq.map { query =>
      val asked = askers.submit(() => QueryWatermarks.report(spark, UUID.fromString(query)).get)
      Try(Said(file, asked.get(30, TimeUnit.SECONDS)))
    }

  test("no report waits for a file, and each is on one batch as a whole", Slow) {
    val checkpoint = Files.createTempDirectory("checkpoint")
    val begun = run(checkpoint, until = 3)
    val gone = run(checkpoint, until = 5)
    (begun ++ gone).filter(_.report.batchId >= 0).foreach { one =>
      val rows = RowsOfBatch * (one.report.batchId + 1)
      assert(one.rows == rows && one.report.counts.onTime + one.late == rows, one.file)
      assert(one.report.json.nonEmpty && one.report.blame.nonEmpty && !one.report.metrics.isEmpty)
    }
    for ((run, batch) <- Seq(begun -> 2L, begun -> 3L, gone -> 4L)) {
      val ledger = run.filter(_.file.startsWith(s"eventtide/ledger/$batch"))
      assert(ledger.nonEmpty && ledger.forall(_.report.batchId == batch), s"ledger of $batch")
    }
  }

  test("a query that ends has its last report at each moment", Slow) {
    WatchedFiles.atEachCall = _ => ()
    val counts = RateWindows.counts(RateWindows.events(spark, RowsOfBatch))
    (1 to 10).foreach { _ =>
      val query = counts.writeStream.format("noop").trigger(Trigger.ProcessingTime(0)).start()
      try {
        def batch = QueryWatermarks.report(spark, query.id).get.batchId
        eventually(timeout(Span(60, Seconds)))(assert(batch >= 0))
        val least = batch
        val ended = Future(query.stop())(ExecutionContext.fromExecutor(askers))
        while (!ended.isCompleted) assert(batch >= least)
      } finally query.stop()
    }
  }
}

/** What there was to read while the query waited for a file. */
private final case class Said(file: String, report: WatermarkReport) {
  def rows: Long = report.inputs.flatMap(_.lines).map(_.rowsTotal).sum
  def late: Long = report.counts.late.values.sum
}

/** Checkpoint files that say before each call which path it is for. */
final class WatchedFiles(root: Path, conf: Configuration)
    extends FileSystemBasedCheckpointFileManager(root, conf) {

  private def look[A](path: Path)(call: => A): A = {
    WatchedFiles.atEachCall(path)
    call
  }

  override def list(path: Path, filter: PathFilter): Array[FileStatus] =
    look(path)(super.list(path, filter))
  override def open(path: Path): FSDataInputStream = look(path)(super.open(path))
  override def exists(path: Path): Boolean = look(path)(super.exists(path))
  override def delete(path: Path): Unit = look(path)(super.delete(path))
  override def renameTempFile(from: Path, to: Path, overwrite: Boolean): Unit =
    look(to)(super.renameTempFile(from, to, overwrite))
}

object WatchedFiles {
  @volatile var atEachCall: Path => Unit = _ => ()
}
