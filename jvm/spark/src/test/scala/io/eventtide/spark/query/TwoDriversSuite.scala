package io.eventtide.spark.query

import java.nio.file.{Files, Path, Paths}
import java.util.concurrent.{ConcurrentHashMap, CountDownLatch, TimeUnit}
import java.util.{List => JList, UUID}

import scala.jdk.CollectionConverters._

import org.apache.spark.sql.functions.{col, count, expr, lit}
import org.apache.spark.sql.streaming.{StreamingQuery, Trigger}
import org.apache.spark.sql.{DataFrame, Dataset, Row}
import org.scalatest.funsuite.AnyFunSuite
import org.scalatest.tagobjects.Slow

import io.eventtide.spark._

/** Two drivers on one checkpoint: whatever they do, and wherever, each batch gives what it gives to one
  * driver alone, each late row is in the log once, a plain restart goes on, and errors have names.
  */
final class TwoDriversSuite extends AnyFunSuite with LocalSession {
  import DriverSteps.Step

  private val Last = 7 // the batch with which all is over
  private val InMiddle = 3
  private val Drivers = Seq(classOf[Driver1], classOf[Driver2], classOf[Driver3])

  override protected def beforeAll(): Unit = {
    super.beforeAll()
    val rocks = "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"
    Map(
      "spark.sql.streaming.stateStore.providerClass" -> rocks,
      "spark.sql.streaming.stateStore.checkpointFormatVersion" -> "2",
      "spark.sql.streaming.stateStore.rocksdb.changelogCheckpointing.enabled" -> "true",
      "spark.sql.shuffle.partitions" -> "1",
      "spark.sql.codegen.wholeStage" -> "false",
      "spark.sql.codegen.factoryMode" -> "NO_CODEGEN"
    ).foreachEntry((key, value) => spark.conf.set(key, value))
    write(classOf[DriverSteps])
    Drivers.zipWithIndex.foreach { case (driver, i) =>
      spark.sparkContext.hadoopConfiguration.set(s"fs.driver${i + 1}.impl", driver.getName)
    }
  }

  private def write(files: Class[_ <: DriverSteps]): Unit =
    spark.conf.set("spark.sql.streaming.checkpointFileManagerClass", files.getName)

  /** A checkpoint, and what each batch gave whenever it was run. */
  private final class Shared(val root: Path) {
    val results = new ConcurrentHashMap[Long, Set[String]]
    val checkpoint: Path = Files.createDirectories(root.resolve("checkpoint"))

    // Spark refuses a checkpoint with batches that has none.
    Drivers.indices.foreach { i =>
      val id = s"""{"id":"${UUID.randomUUID()}"}"""
      Files.writeString(checkpoint.resolve(s".metadata-driver${i + 1}"), id)
    }

    def take(rows: Dataset[Row], batch: Long): Unit = {
      val text = rows.collect().map(_.toString).sorted.mkString("\n")
      results.merge(batch, Set(text), _ ++ _): Unit
    }

    def late: Map[Long, Seq[String]] = {
      val read = PythonApi.readLate(spark, Map("checkpoint" -> checkpoint.toString).asJava)
      val rows = read.where(col("_batch_id") <= Last).select("_batch_id", "value").collect()
      rows.groupMap(_.getLong(0))(_.getLong(1).toString).view.mapValues(_.toSeq.sorted).toMap
    }

    def files: Seq[String] = Seq("offsets", "commits", "eventtide").flatMap { folder =>
      val found = Files.walk(checkpoint.resolve(folder)).iterator.asScala
      found.map(checkpoint.relativize(_).toString).filterNot(_.contains("/.")).toSeq.sorted
    }
  }

  private def events: DataFrame = {
    val rate = spark.readStream.format("rate-micro-batch").option("rowsPerBatch", 20)
    val rows = rate.option("startTimestamp", 1704067200000L).option("advanceMillisPerBatch", 1000)
    val ms = "unix_millis(timestamp) - if(value % 10 = 9, 30000, 0)"
    rows
      .load()
      .select(expr(s"timestamp_millis($ms)").as("ts"), col("value"), expr("value % 3").as("k"))
  }

  private def windows: DataFrame = PythonApi.window(
    events,
    "ts",
    Map("policy" -> "with_fixed_lag", "lag" -> "PT1S").asJava,
    JList.of(),
    JList.of(col("k")),
    JList.of(count(lit(1)).as("n")),
    null,
    JList.of(),
    Map("kind" -> "tumbling", "size" -> "PT2S").asJava
  )

  /** Starts a driver, which ends before it begins a batch, at the latest. */
  private def start(driver: String, shared: Shared, until: Int = Last + 1)(
      hook: Step => Unit = _ => ()
  ): StreamingQuery = {
    DriverSteps.at(driver) { step =>
      if (step == Step(s"${shared.checkpoint}/offsets/$until", "create", isBefore = true))
        DriverSteps.kill(driver)
      hook(step)
    }
    val writer =
      windows.writeStream.foreachBatch((rows: Dataset[Row], n: Long) => shared.take(rows, n))
    val location = s"$driver:${shared.checkpoint}"
    writer.option("checkpointLocation", location).trigger(Trigger.ProcessingTime(0)).start()
  }

  /** Waits for a driver's end; by what it ended. */
  private def end(query: StreamingQuery): String = {
    val failure = try {
      assert(query.awaitTermination(60000), "it does not end")
      fail("it has ended without an error")
    } catch { case error: org.apache.spark.sql.streaming.StreamingQueryException => error }
    val causes = Iterator.iterate[Throwable](failure)(_.getCause).takeWhile(_ != null)
    causes.flatMap(error => error +: error.getSuppressed.toSeq).collectFirst {
      case named: EventtideException => named.condition
      case io: java.io.IOException if io.getMessage.endsWith("was killed") => "killed"
    } getOrElse fail("an error without a name", failure)
  }

  private val TakenOver = "CHECKPOINT_TAKEN_OVER"
  private val Named = Set(TakenOver, "killed")

  private def newShared() = new Shared(Files.createTempDirectory("drivers"))

  private def isOfQuery(shared: Shared)(step: Step): Boolean =
    Seq("offsets", "commits", "eventtide").exists { folder =>
      step.file.startsWith(s"${shared.checkpoint}/$folder/")
    }

  /** The steps of a driver alone, and what comes out. */
  private lazy val (quiet, steps) = {
    val shared = newShared()
    val steps = new java.util.concurrent.ConcurrentLinkedQueue[String]
    val hook = (step: Step) =>
      if (isOfQuery(shared)(step)) steps.add(step.text(shared.checkpoint.toString)): Unit
    assert(end(start("driver1", shared)(hook)) == "killed")
    assert(shared.results.size == Last + 1 && shared.late.size > Last - 3)
    (shared, steps.asScala.toSeq)
  }

  private def stepsOf(batch: Int): Seq[String] = {
    val rest = steps.dropWhile(_ != s"before create offsets/$batch")
    rest.takeWhile(_ != s"before create offsets/${batch + 1}")
  }

  /** A driver that is stopped at a step, as by SIGSTOP. */
  private final class Stopped(shared: Shared, at: String) {
    private val (reached, goesOn) = (new CountDownLatch(1), new CountDownLatch(1))
    private val query = start("driver1", shared, until = Last) { step =>
      if (step.text(shared.checkpoint.toString) == at) {
        reached.countDown()
        assert(goesOn.await(60, TimeUnit.SECONDS))
      }
    }
    assert(reached.await(60, TimeUnit.SECONDS), s"it never comes to: $at")

    def ends(): String = {
      goesOn.countDown()
      end(query)
    }
  }

  private def checkTakenOver(at: String): Unit = withClue(s"$at: ") {
    val shared = newShared()
    val stopped = new Stopped(shared, at)
    assert(Named(end(start("driver2", shared, until = 5)())))
    val before = shared.files
    assert(stopped.ends() == TakenOver)
    if (at != s"after create commits/$InMiddle") assert(shared.files == before)
    checkRestart(shared)
  }

  private def checkRestart(shared: Shared): Unit = {
    val restarted = end(start("driver3", shared)())
    assert(restarted == "killed") // by its end
    assert(shared.results == quiet.results)
    assert(shared.late == quiet.late)
  }

  test("one that begins at any step of another's batch takes over from it") {
    assert(stepsOf(InMiddle).length >= 8)
    stepsOf(InMiddle).foreach(checkTakenOver)
  }

  test("where no file is renamed, the second to write a log of Spark's ends by our name, too") {
    write(classOf[UnrenamedSteps])
    try Seq("offsets", "commits").foreach(log => checkTakenOver(s"before create $log/$InMiddle"))
    finally write(classOf[DriverSteps])
  }

  test("one that is killed at any of its own steps leaves another's batch as it is", Slow) {
    def killedAt(number: Int): Boolean = {
      val shared = newShared()
      val stopped = new Stopped(shared, s"before create commits/$InMiddle")
      var count = 0
      var at = ""
      val ended = end(start("driver2", shared, until = 5) { step =>
        if (isOfQuery(shared)(step)) {
          if (count == number) {
            at = step.text(shared.checkpoint.toString)
            DriverSteps.kill("driver2")
          }
          count += 1
        }
      })
      withClue(s"killed $at: ") {
        assert(ended == "killed" && Named(stopped.ends()))
        checkRestart(shared)
      }
      at.nonEmpty && at != s"after create commits/${InMiddle + 1}"
    }
    val kills = Iterator.from(0).takeWhile(killedAt).length
    assert(kills > 10)
  }

  test("of two that are both at work one goes on") {
    (1 to 3).foreach { _ =>
      val shared = newShared()
      val reached = new CountDownLatch(1)
      val first = start("driver1", shared, until = 1000) { step =>
        if (step.file.endsWith(s"/commits/$InMiddle")) reached.countDown()
      }
      assert(reached.await(60, TimeUnit.SECONDS))
      val second = start("driver2", shared)()
      assert(Named(end(second)))
      assert(Named(end(first)) && Paths.get(shared.checkpoint.toString).toFile.exists)
      checkRestart(shared)
    }
  }
}
