package io.eventtide.spark.query.run

import java.nio.file.{Files, Path}
import java.util.UUID
import java.util.concurrent.{ConcurrentHashMap, CountDownLatch, TimeUnit}

import scala.jdk.CollectionConverters._

import org.apache.spark.sql.functions.col
import org.apache.spark.sql.streaming.{StreamingQuery, Trigger}
import org.apache.spark.sql.{DataFrame, Dataset, Row}
import org.scalatest.funsuite.AnyFunSuite
import org.scalatest.tagobjects.Slow

import io.eventtide.spark.api.PythonApi
import io.eventtide.spark.testkit.{ScriptProvider, ScriptSource}
import io.eventtide.spark.{
  BuildInfo,
  Driver1,
  Driver2,
  Driver3,
  DriverSteps,
  EventtideException,
  LocalSession,
  RateWindows,
  UnrenamedSteps
}

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

  private def events: DataFrame = RateWindows.events(spark, rowsPerBatch = 20)

  /** Rows that come when the test says so, so that a query may be idle between them. */
  private final class Feed {
    private val script = ScriptSource.create(events.schema)

    def rows: DataFrame =
      spark.readStream.format(classOf[ScriptProvider].getName).option("script", script.id).load()

    def add(batches: Int): Unit = (1 to batches).foreach { _ =>
      val first = 20L * script.length
      val ms = s"1704067200000 + 50 * id - if(id % 10 = 9, 30000, 0)"
      val columns = Seq(s"timestamp_millis($ms) AS ts", "id AS value", "id % 3 AS k")
      script.add(spark.range(first, first + 20, 1, 1).selectExpr(columns: _*))
    }
  }

  /** Starts a driver, which ends before it begins a batch, at the latest. */
  private def start(
      driver: String,
      shared: Shared,
      until: Int = Last + 1,
      results: DataFrame = RateWindows.counts(events)
  )(hook: Step => Unit = _ => ()): StreamingQuery = {
    DriverSteps.at(driver) { step =>
      if (step == Step(s"${shared.checkpoint}/offsets/$until", "create", isBefore = true))
        DriverSteps.kill(driver)
      hook(step)
    }
    val writer =
      results.writeStream.foreachBatch((rows: Dataset[Row], n: Long) => shared.take(rows, n))
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

  private def await(latch: CountDownLatch): Unit =
    assert(latch.await(60, TimeUnit.SECONDS), "it never comes to where it is waited for")

  /** A driver that is stopped at a step, as by SIGSTOP. */
  private final class Stopped(
      shared: Shared,
      at: String,
      driver: String = "driver1",
      results: DataFrame = RateWindows.counts(events),
      until: Int = Last
  ) {
    private val (reached, goesOn) = (new CountDownLatch(1), new CountDownLatch(1))
    private val query = start(driver, shared, until, results) { step =>
      if (step.text(shared.checkpoint.toString) == at) {
        reached.countDown()
        await(goesOn)
      }
    }
    withClue(s"$at: ")(await(reached))

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

  private def checkRestart(
      shared: Shared,
      alone: Shared = quiet,
      results: DataFrame = RateWindows.counts(events)
  ): Unit = {
    val restarted = end(start("driver3", shared, results = results)())
    assert(restarted == "killed") // by its end
    assert(shared.results == alone.results)
    assert(shared.late == alone.late)
  }

  test("one that begins at any step of another's batch takes over from it", Slow) {
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

  /** Two drivers of which one is at work when the other takes the checkpoint over.
    *
    * @param atOnce
    *   whether the second one goes on before the first has ended
    * @return
    *   by what the second one ended, and whether the first had begun a batch meanwhile
    */
  private def takeOver(shared: Shared, atOnce: Boolean): (String, Boolean) = {
    val atWork, taken, over = new CountDownLatch(1)
    @volatile var hasBegun = false
    val first = start("driver1", shared, until = 1000) { step =>
      if (step.file.endsWith(s"/commits/$InMiddle") && !step.isBefore) {
        atWork.countDown()
        await(taken)
      } else if (step.file.contains("/offsets/") && taken.getCount == 0) hasBegun = true
    }
    await(atWork)
    val second = start("driver2", shared) { step =>
      if (step.text(shared.checkpoint.toString) == "after create eventtide/runs/1") {
        taken.countDown()
        if (!atOnce) await(over)
      }
    }
    assert(end(first) == TakenOver)
    over.countDown()
    (end(second), hasBegun)
  }

  test("of two that are both at work the one that began last goes on") {
    val shared = newShared()
    assert(takeOver(shared, atOnce = false)._1 == "killed") // by its end
    checkRestart(shared)
  }

  test("of two that go on at the same moment both end only if the first begins a batch", Slow) {
    (1 to 3).foreach { _ =>
      val shared = newShared()
      val (ended, hasBegun) = takeOver(shared, atOnce = true)
      assert(ended == "killed" || ended == TakenOver && hasBegun)
      checkRestart(shared)
    }
  }

  test("one that has looked before another began, and writes after it has read, ends both", Slow) {
    val shared = newShared()
    val at = s"before create offsets/$InMiddle"
    val first = new Stopped(shared, at)
    val second = new Stopped(shared, at, "driver2")
    assert(first.ends() == TakenOver)
    assert(second.ends() == TakenOver)
    checkRestart(shared)
  }

  test("one that is about to fold late files, which another has folded, ends by our name", Slow) {
    val Until = 18
    spark.conf.set("spark.sql.streaming.minBatchesToRetain", 2L)
    try {
      val (alone, shared) = (newShared(), newShared())
      val steps = new java.util.concurrent.ConcurrentLinkedQueue[String]
      assert(end(start("driver3", alone, Until) { step =>
        steps.add(step.text(alone.checkpoint.toString)): Unit
      }) == "killed")
      val late = steps.asScala.filter(_.contains(" create eventtide/late/")).toSeq
      val beforeFold = late(late.indexWhere(_.contains("/fold1-")) - 1)
      val stopped = new Stopped(shared, beforeFold, until = Until)
      assert(end(start("driver2", shared, Until)()) == "killed") // by its end
      val before = shared.files
      assert(stopped.ends() == TakenOver)
      assert(shared.files == before)
      assert(shared.results == alone.results && shared.late == alone.late)
    } finally spark.conf.unset("spark.sql.streaming.minBatchesToRetain")
  }

  /** A driver that has read all there is. */
  private def idle(driver: String, shared: Shared, feed: Feed): StreamingQuery = {
    val query = start(driver, shared, results = RateWindows.counts(feed.rows))()
    query.processAllAvailable()
    query
  }

  test("of two that are idle the one that began last goes on when rows come", Slow) {
    val (shared, alone) = (newShared(), newShared())
    val (feed, same) = (new Feed, new Feed)
    Seq(feed, same).foreach(_.add(2))
    val only = idle("driver3", alone, same)
    same.add(Last)
    assert(end(only) == "killed")

    val first = idle("driver1", shared, feed)
    val second = idle("driver2", shared, feed)
    val begun = shared.files.filter(_.startsWith("offsets"))
    assert(end(first) == TakenOver)
    assert(shared.files.filter(_.startsWith("offsets")) == begun)
    feed.add(Last)
    assert(end(second) == "killed")
    checkRestart(shared, alone, RateWindows.counts(feed.rows))
  }

  test("a first start that goes on once another has run ends by our name", Slow) {
    // Spark 4.1 reads its logs once the sources are open, so that the second one may go on.
    val allowed = if (BuildInfo.sparkMinor == "4.1") Named else Set(TakenOver)
    val ofState = "before create state/10000/_metadata/metadata"
    Seq("before create eventtide/runs/0", ofState).foreach { at =>
      val shared = newShared()
      val second = new Stopped(shared, at, "driver2")
      assert(end(start("driver1", shared, until = InMiddle)()) == "killed")
      assert(allowed(second.ends()))
      checkRestart(shared)
    }
  }

  test(
    "one that finds batches of another plan once it has the checkpoint changes none of them",
    Slow
  ) {
    val shared = newShared()
    val plan = RateWindows.counts(events, size = "PT3S")
    val second = new Stopped(shared, "before create eventtide/runs/0", "driver2", plan)
    assert(end(start("driver1", shared, until = InMiddle)()) == "killed")
    def rest = shared.files.filterNot(_.startsWith("eventtide/runs"))
    val before = rest
    assert(second.ends() == "CHECKPOINT_PLAN_CHANGED")
    assert(rest == before)
    checkRestart(shared)
  }
}
