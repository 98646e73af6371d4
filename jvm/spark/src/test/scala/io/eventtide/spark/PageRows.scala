package io.eventtide.spark

import java.nio.file.Files

import org.apache.spark.sql.DataFrame
import org.apache.spark.sql.streaming.{StreamingQuery, Trigger}
import org.scalatest.{BeforeAndAfterAll, Suite}

/** The rows of the examples on pages, and runs of these examples to their end. */
trait PageRows extends RocksSession { this: Suite with BeforeAndAfterAll =>

  protected lazy val rows: DataFrame = spark
    .createDataFrame(Seq(("00:00:07", "a", 1), ("00:00:50", "b", 2), ("00:01:10", "a", 3)))
    .selectExpr("to_timestamp('2024-01-01 ' || _1) AS ts", "_2 AS device", "_3 AS amount")

  protected def stream: DataFrame = {
    val folder = Files.createTempDirectory("events").toUri.toString
    rows.write.mode("append").parquet(folder)
    spark.readStream.schema(rows.schema).parquet(folder)
  }

  /** Works with the query of a window, which has read all rows and closed all windows. */
  protected def written(counts: WindowBuilder)(work: StreamingQuery => Unit): Unit = {
    val writer = counts.results.writeStream
      .format("noop")
      .option("checkpointLocation", Files.createTempDirectory("checkpoint").toString)
      .trigger(Trigger.AvailableNow())
    val query = counts.start(writer, drain = true)
    query.awaitTermination()
    work(query)
  }

  protected def runs(counts: WindowBuilder*): Unit = counts.foreach(written(_)(_ => ()))

  /** Reads all rows of a stream with a watermark. */
  protected def runs(timed: DataFrame): Unit = {
    val query = timed.writeStream.format("noop").trigger(Trigger.AvailableNow()).start()
    query.awaitTermination()
    val substreams = Eventtide.progress(query).toSeq.flatMap(_.inputs).flatMap(_.substreams)
    assert(substreams.map(_.rowsTotal).sum == 3)
  }
}
