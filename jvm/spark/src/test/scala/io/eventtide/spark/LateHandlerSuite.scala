package io.eventtide.spark

import java.nio.file.{Files, Paths}
import java.util.concurrent.{ConcurrentLinkedQueue, CountDownLatch, TimeUnit}

import scala.jdk.CollectionConverters._

import org.apache.spark.sql.execution.streaming.runtime.MemoryStream
import org.apache.spark.sql.functions.{count, lit}
import org.apache.spark.sql.streaming.{DataStreamWriter, StreamingQuery, StreamingQueryException}
import org.apache.spark.sql.{DataFrame, Row}
import org.scalatest.funsuite.AnyFunSuite
import org.scalatest.tagobjects.Slow

import io.eventtide.spark.latelog.{
  LateCompanion,
  LateHandlerQuery,
  LateReadOptions,
  RetainTempCheckpoint
}
import io.eventtide.spark.voltsp.{TimeConfig, VoltSPWindow, Windows}

/** The handler of late rows in Scala; Python's tests have the rest of its life. */
class LateHandlerSuite extends AnyFunSuite with RocksSession {
  private val folder = Files.createTempDirectory("handler").toString
  private val calls = new ConcurrentLinkedQueue[String]()

  private def made: Seq[String] = calls.asScala.toSeq

  // A number is a row on time, a text is a late row.
  private def begun(name: String)(
      handled: WindowBuilder => WindowBuilder
  ): (MemoryStream[(Long, String)], WindowBuilder, DataStreamWriter[Row]) = {
    import spark.implicits._
    implicit val session = spark.sqlContext
    calls.clear()
    val input = MemoryStream[(Long, String)]
    val rows = input.toDF().selectExpr("timestamp_seconds(_1) AS ts", "_2 AS key")
    val window = handled(
      Eventtide
        .window(rows)
        .eventTime("ts", WatermarkPolicy.withFixedLag("0s"))
        .tumbling("10s")
        .agg(count(lit(1)).as("n"))
    )
    val writer = window.results.writeStream.format("noop")
    (input, window, writer.option("checkpointLocation", s"$folder/$name"))
  }

  private def late(rows: DataFrame, context: LateContext): Unit = {
    val keys = rows.select("key").collect().map(_.getString(0)).sorted.mkString
    calls.add(s"$keys ${context.reasons.mkString} ${context.batchId}"): Unit
    if (keys.contains("b")) throw new IllegalStateException(keys)
  }

  // After two batches every earlier row is late.
  private def open(input: MemoryStream[(Long, String)], query: StreamingQuery): Unit =
    Seq(100L, 101L).foreach { second =>
      input.addData(second -> "on time")
      query.processAllAvailable()
    }

  private def feed(
      input: MemoryStream[(Long, String)],
      query: StreamingQuery,
      keys: String
  ): Unit = {
    input.addData(keys.map(key => 1L -> key.toString): _*)
    query.processAllAvailable()
  }

  test("each batch with late rows is one call, and a restart goes on") {
    val (input, window, writer) = begun("calls")(_.onLate(late _))
    val first = window.start(writer)
    open(input, first)
    feed(input, first, "ac")
    assert(made == Seq("ac window_closed -> 2 2"))
    assert(first.isActive && Eventtide.lateRows(first).count() == 2)
    first.stop()
    assert(!first.isActive && first.exception.isEmpty)
    val second = window.start(writer)
    feed(input, second, "d")
    second.stop()
    assert(made.map(_.take(2)) == Seq("ac", "d "))
  }

  test("a handler that fails stops the query, with a named error", Slow) {
    val (input, window, writer) = begun("fails")(_.onLate(late _))
    val query = window.start(writer)
    open(input, query)
    val failed = intercept[StreamingQueryException](feed(input, query, "b"))
    val cause = Iterator.iterate[Throwable](failed)(_.getCause).takeWhile(_ != null)
    val named = cause.collectFirst { case error: EventtideException => error }
    assert(named.map(_.condition).contains("LATE_HANDLER_FAILED"))
    assert(named.exists(_.getCause.isInstanceOf[IllegalStateException]))
    assert(!query.isActive && query.exception.isDefined)
    intercept[StreamingQueryException](query.awaitTermination())
  }

  private def conditions(failure: StreamingQueryException): Seq[String] =
    EventtideException.in(failure).map(_.condition).toSeq

  private def write(file: String): Unit = {
    val path = Paths.get(folder).resolve(file)
    Files.createDirectories(path.getParent)
    Files.writeString(path, "of another driver"): Unit
  }

  test("a call that another driver has made meanwhile ends the query by our name", Slow) {
    def made(rows: DataFrame, context: LateContext): Unit =
      write("conflict/eventtide/handler/0/commits/0")
    val (input, window, writer) = begun("conflict")(_.onLate(made _))
    val query = window.start(writer)
    open(input, query)
    val failed = intercept[StreamingQueryException](feed(input, query, "a"))
    assert(conditions(failed) == Seq("CHECKPOINT_TAKEN_OVER"))
    assert(!query.isActive)
  }

  test("once another driver has the checkpoint, this one begins no other call", Slow) {
    val (isCalled, goesOn) = (new CountDownLatch(1), new CountDownLatch(1))
    def slowly(rows: DataFrame, context: LateContext): Unit = {
      late(rows, context)
      isCalled.countDown()
      assert(goesOn.await(60, TimeUnit.SECONDS))
    }
    val (input, window, writer) = begun("taken")(_.onLate(slowly _))
    val query = window.start(writer)
    open(input, query)
    input.addData(1L -> "a")
    assert(isCalled.await(60, TimeUnit.SECONDS))
    val main = spark.streams.get(query.id)
    Seq("c", "d").foreach { key =>
      input.addData(1L -> key)
      main.processAllAvailable()
    }
    write("taken/eventtide/runs/7")
    assert(conditions(intercept[StreamingQueryException](main.awaitTermination())).nonEmpty)
    goesOn.countDown()
    intercept[StreamingQueryException](query.awaitTermination())
    assert(made.map(_.take(1)) == Seq("a"))
  }

  test("the errors of a handler may be logged, and another choice is refused", Slow) {
    val (input, window, writer) = begun("logs")(_.onLate(late _, "log"))
    val query = window.start(writer)
    open(input, query)
    feed(input, query, "b")
    assert(query.isActive && made.length == 1)
    query.stop()
    val refused = intercept[EventtideException](Eventtide.window().onLate(late _, "ignore"))
    assert(refused.condition == "INVALID_CHOICE")
  }

  private val counted = Windows
    .tumblingTimeWindow()
    .withWindowSpan("10s")
    .withTimeConfigBuilder(_.withEventTimeExtractor("ts"))
    .withAggregateDefinition(_.count())

  test("a late row reaches the exception handler of a window of VoltSP") {
    val volt = counted.withExceptionHandler(late _)
    val (input, window, writer) = begun("voltsp")(builder => volt.over(builder.df))
    val query = window.start(writer)
    open(input, query)
    feed(input, query, "ac")
    assert(made == Seq("ac window_closed -> 2 2"))
    query.stop()
  }

  test("an exception handler needs the late log, and is not called without an event time") {
    def over(window: VoltSPWindow) = begun("refused")(builder => window.over(builder.df))
    val handled = counted.withExceptionHandler(late _, "log")
    val refused = intercept[EventtideException](over(handled.withLate("count")))
    assert(refused.getMessageParameters.get("option") == "exception_handler")
    val unknown = intercept[EventtideException](counted.withExceptionHandler(late _, "ignore"))
    assert(unknown.getMessageParameters.get("option") == "on_handler_error")
    val (_, _, writer) = over(handled.withTimeConfig(TimeConfig()))
    writer.start().stop()
  }

  // A query of a client of Spark Connect, with an announced companion.
  private def announced(
      name: String
  ): (MemoryStream[(Long, String)], StreamingQuery, Map[String, String]) = {
    val (input, _, writer) = begun(name)(identity)
    val main = RetainTempCheckpoint.during(writer.start())
    (input, main, LateHandlerQuery.follow(main, window = 0).get)
  }

  private def companion(main: StreamingQuery, options: Map[String, String])(
      call: DataFrame => Unit
  ): StreamingQuery = LateHandlerQuery
    .read(main, options)
    .writeStream
    .foreachBatch((rows: DataFrame, _: Long) => call(rows))
    .option("checkpointLocation", options(LateReadOptions.Companion))
    .start()

  // As a client that disappears when it has started the companion.
  private def abandoned(name: String)(
      call: DataFrame => Unit
  ): (MemoryStream[(Long, String)], StreamingQuery, StreamingQuery) = {
    val (input, main, options) = announced(name)
    (input, main, companion(main, options)(call))
  }

  private def ignore(rows: DataFrame): Unit = rows.isEmpty: Unit

  private def assertRefused(main: StreamingQuery, late: StreamingQuery): Unit = {
    val failed = intercept[StreamingQueryException](LateCompanion.awaitBegin(main, late))
    assert(failed.getMessage.contains("INVALID_CHOICE"))
    intercept[StreamingQueryException](late.awaitTermination(60000)): Unit
  }

  test("a companion ends with its query without the client that started it") {
    val (input, main, companion) =
      abandoned("ends")(rows => if (!rows.isEmpty) calls.add("late"): Unit)
    open(input, main)
    feed(input, main, "a")
    main.stop()
    assert(companion.awaitTermination(60000) && made == Seq("late"))
  }

  test("a companion that fails stops its query without the client that started it") {
    val (input, main, _) = abandoned("stops")(rows => if (!rows.isEmpty) sys.error("failed"))
    open(input, main)
    feed(input, main, "a")
    assert(main.awaitTermination(60000))
  }

  test("a companion that starts after its release ends with an error") {
    val (_, main, options) = announced("released")
    LateHandlerQuery.release(main, failed = false)
    assertRefused(main, companion(main, options)(ignore))
    assert(main.isActive)
    main.stop()
  }

  test("the companion of an earlier run ends with an error, and the one of this run begins") {
    val (_, first, earlier) = announced("replaced")
    first.stop()
    val (_, second, own) = announced("replaced")
    assert(earlier(LateReadOptions.Companion) == own(LateReadOptions.Companion))
    assertRefused(first, companion(first, earlier)(ignore))
    val late = companion(second, own)(ignore)
    LateCompanion.awaitBegin(second, late)
    second.stop()
    assert(late.awaitTermination(60000))
  }

  test("a companion that has begun is not replaced while its query runs") {
    val (_, main, options) = announced("twice")
    val late = companion(main, options)(ignore)
    LateCompanion.awaitBegin(main, late)
    val refused = intercept[EventtideException](LateHandlerQuery.follow(main, window = 0))
    assert(refused.getMessageParameters.get("option") == "companion")
    assert(late.isActive)
    main.stop()
    assert(late.awaitTermination(60000))
    LateCompanion.awaitBegin(main, late) // also after both have ended
  }

  test("a companion is announced again if its start has failed") {
    val (_, main, _) = announced("again")
    val late = companion(main, LateHandlerQuery.follow(main, window = 0).get)(ignore)
    LateCompanion.awaitBegin(main, late)
    main.stop()
    assert(late.awaitTermination(60000))
  }

  test("an announced companion is forgotten ten minutes after the end of its query") {
    val (_, main, _) = announced("forgotten")
    val minuteMs = 60000L
    def isAnnouncedAt(minute: Long) = {
      LateCompanion.forgetAbandoned(minute * minuteMs)
      LateCompanion.of(main).isDefined
    }
    assert(isAnnouncedAt(0))
    assert(isAnnouncedAt(20))
    main.stop()
    assert(isAnnouncedAt(30))
    assert(isAnnouncedAt(40))
    assert(!isAnnouncedAt(41))
  }

  test("a writer that calls no handler is refused") {
    val (_, _, writer) = begun("plain")(_.onLate(late _))
    val refused = intercept[EventtideException](writer.start())
    assert(refused.condition == "HANDLER_NOT_CALLED")
  }
}
