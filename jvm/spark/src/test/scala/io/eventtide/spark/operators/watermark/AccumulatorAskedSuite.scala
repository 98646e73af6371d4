package io.eventtide.spark.operators.watermark

import java.net.URI
import java.nio.file.{Files, Path, Paths}
import java.util.concurrent.ConcurrentLinkedQueue

import scala.jdk.CollectionConverters._

import org.apache.spark.TaskContext
import org.apache.spark.scheduler._
import org.apache.spark.sql.functions.{col, udf}
import org.scalatest.funsuite.AnyFunSuite

import io.eventtide.spark.LocalSession
import io.eventtide.spark.latelog.{LateQuery, MarkLateStrategy}
import io.eventtide.spark.options.{LateMode, LateSettings}

/** The first question for the value of `SubstreamStatsAccum` ends the batch, so that nothing in Spark
  * may ask it before all tasks are done: no heartbeat, task end, listener, UI or event log.
  */
final class AccumulatorAskedSuite extends AnyFunSuite with LocalSession {
  import AccumulatorAskedSuite._

  private val asking = Map(
    "spark.executor.heartbeatInterval" -> "500ms",
    "spark.eventLog.enabled" -> "true",
    "spark.eventLog.logStageExecutorMetrics" -> "true",
    "spark.eventLog.dir" -> Files.createTempDirectory("events").toUri.toString,
    "spark.ui.enabled" -> "true",
    "spark.ui.port" -> "0"
  )

  override protected def beforeAll(): Unit = {
    super.beforeAll()
    asking.foreach { case (key, value) => System.setProperty(key, value) }
  }

  override protected def afterAll(): Unit =
    try asking.keys.foreach(System.clearProperty)
    finally super.afterAll()

  test("nothing asks for the value while a batch runs") {
    spark.experimental.extraStrategies = Seq(MarkLateStrategy(spark))
    val query = new LateQuery(spark, LateSettings(LateMode.Log, None))
    spark.sparkContext.addSparkListener(Listener)
    try {
      ledger = Paths.get(new URI(query.checkpoint)).resolve("eventtide/ledger")
      query.start(query.marked.repartition(2).select(col("ts"), look(col("device")).as("device")))
      query.feed(1, 2)
      query.feed(11, 12)
    } finally {
      query.stop()
      spark.sparkContext.removeSparkListener(Listener)
    }
    val looks = seen.asScala.toSeq
    assert(looks.map(_.batch).distinct.length >= 2)
    assert(looks.forall(_.wasReported), "no heartbeat came, or no end of a task")
    assert(!looks.exists(_.hasEnded), "Spark has asked before all tasks were done")
    assert(looks.forall(look => isInLedger(look.batch))) // where it is looked for
  }
}

object AccumulatorAskedSuite {

  /** What a task of the stage behind the watermark saw.
    *
    * @param wasReported whether the stage before it had been reported, and two heartbeats after that
    * @param hasEnded whether the batch had its entry in the ledger by then
    */
  final case class Look(batch: String, wasReported: Boolean, hasEnded: Boolean)

  private val seen = new ConcurrentLinkedQueue[Look]
  @volatile private var ledger: Path = _

  /** Whether a batch has an entry, of any revision. */
  private def isInLedger(batch: String): Boolean = Option(ledger.toFile.list()).exists {
    _.exists(name => name == batch || name.startsWith(s"$batch."))
  }

  /** Reads what listeners are given, as the UI and the event log do, and counts it. */
  private object Listener extends SparkListener {
    private var heartbeats = 0
    private var stages = 0

    override def onStageCompleted(stage: SparkListenerStageCompleted): Unit = synchronized {
      stage.stageInfo.accumulables.values.foreach(_.value)
      stages += 1
    }

    override def onTaskEnd(task: SparkListenerTaskEnd): Unit =
      task.taskInfo.accumulables.foreach(_.value)

    override def onExecutorMetricsUpdate(update: SparkListenerExecutorMetricsUpdate): Unit =
      synchronized { heartbeats += 1; notifyAll() }

    /** Waits for two heartbeats; Spark reports in order, so that all before them has been reported. */
    def awaitReports(): Boolean = synchronized {
      val enough = heartbeats + 2
      val until = System.nanoTime() + 20000000000L
      while (heartbeats < enough && System.nanoTime() < until) wait(1000)
      heartbeats >= enough && stages > 0
    }
  }

  private val look = udf { (device: String) =>
    val reported = Listener.awaitReports()
    val batch = TaskContext.get().getLocalProperty("streaming.sql.batchId")
    seen.add(Look(batch, reported, isInLedger(batch)))
    device
  }
}
