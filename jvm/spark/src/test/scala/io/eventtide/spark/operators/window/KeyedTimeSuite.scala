package io.eventtide.spark.operators.window

import java.nio.file.Files

import org.apache.spark.sql.eventtide.TestQuery
import org.apache.spark.sql.execution.CodegenMode
import org.apache.spark.sql.execution.streaming.runtime.StreamingQueryWrapper
import org.apache.spark.sql.functions._
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.types.StructType
import org.apache.spark.sql.{Column, DataFrame, Row, classic}
import org.scalatest.funsuite.AnyFunSuite
import org.scalatest.tags.Slow

import io.eventtide.spark.api.PythonApi
import io.eventtide.spark.operators.late.DeferredLateRows
import io.eventtide.spark.operators.preagg.MapSideFrameAggregateExec
import io.eventtide.spark.testkit.{ScriptProvider, ScriptSource}
import io.eventtide.spark.{LocalSession, RequestedWindow}

/** Windows whose rows are judged by their keys, in a real query, step by step. */
@Slow
final class KeyedTimeSuite extends AnyFunSuite with LocalSession {
  private val schema = StructType.fromDDL("ts TIMESTAMP, user STRING, amount LONG")

  override protected def beforeAll(): Unit = {
    super.beforeAll()
    val rocks = "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"
    spark.conf.set("spark.sql.streaming.stateStore.providerClass", rocks)
  }

  private def second(n: Double): java.sql.Timestamp = new java.sql.Timestamp((n * 1000).toLong)

  private def row(user: String, seconds: Double, amount: Long = 1): Row =
    Row(second(1000 + seconds), user, amount)

  private def policyOf(name: String) =
    Map("policy" -> name) ++ Option.when(name == "with_fixed_lag")("lag" -> "PT10S")

  private final class Played(policy: String, aggregates: Seq[Column], options: (String, String)*) {
    private val script = ScriptSource.create(schema)
    private val events =
      spark.readStream.format(classOf[ScriptProvider].getName).option("script", script.id).load()
    private val result =
      RequestedWindow(events, "ts", policyOf(policy), Seq(col("user")), aggregates, options.toMap)
    private val isCounted = options.contains("kind" -> "count")
    private val bounds = Seq("window.start", "window.end").map { bound =>
      if (isCounted) col(bound) else unix_timestamp(col(bound)) - 1000
    }
    private val columns = (col("user") +: bounds) ++ result.columns.drop(2).map(col)
    val checkpoint: String = Files.createTempDirectory("window").toString
    private val shown: DataFrame = result.select(columns: _*)
    private val scripted =
      new TestQuery(shown.asInstanceOf[classic.DataFrame], "append", checkpoint, 1000000)
    scripted.start(availableNow = false)

    def step(rows: Row*): Set[Row] = {
      script.add(spark.createDataFrame(java.util.Arrays.asList(rows: _*), schema))
      settled()
    }

    def clock(seconds: Double): Set[Row] = {
      scripted.setClock(1000000 + (seconds * 1000).toLong)
      settled()
    }

    private def settled(): Set[Row] = {
      scripted.awaitIdle()
      scripted.newResults().collect().toSet
    }

    def late: Set[Row] =
      spark.read
        .format("eventtide-late")
        .option("checkpoint", checkpoint)
        .load()
        .select(col("user"), unix_timestamp(col("ts")) - 1000, col("_reason"))
        .collect()
        .toSet

    def lateCount: Long =
      spark.read.format("eventtide-late").option("checkpoint", checkpoint).load().count()

    /** Open windows, without panes, and the watermarks of their keys. */
    def state: Set[Row] = {
      val held = PythonApi.readState(result, checkpoint)
      val watermark = unix_timestamp(col("_watermark")) - 1000
      held.select((col("user") +: bounds) ++ Seq(col("n"), watermark): _*).collect().toSet
    }

    /** How many rows of the last batch have been aggregated before they came to their keys. */
    def sureRows: Long = {
      val running = scripted.query.asInstanceOf[StreamingQueryWrapper].streamingQuery
      val nodes = running.lastExecution.executedPlan.collect {
        case node: MapSideFrameAggregateExec => node
      }
      nodes.map(_.metrics("numPreAggregatedRows").value).sum
    }

    def code: String =
      shown.asInstanceOf[classic.DataFrame].queryExecution.explainString(CodegenMode)

    def restart(): Unit = {
      scripted.stop()
      scripted.start(availableNow = false)
    }

    def stop(): Unit = scripted.stop()
  }

  private def play(policy: String, aggregates: Seq[Column], options: (String, String)*)(
      steps: Played => Unit
  ): Unit = {
    val played = new Played(policy, aggregates, options: _*)
    try steps(played)
    finally played.stop()
  }

  private val n = Seq(count(lit(1)).as("n"))
  private val byKey = Seq("scope" -> "key", "kind" -> "tumbling", "size" -> "PT10S")

  test("each key has its own watermark, and its own late rows") {
    play("max_event_time", n, byKey: _*) { query =>
      assert(query.step(row("a", 1), row("b", 2)).isEmpty)
      assert(query.step(row("a", 15)) == Set(Row("a", 0L, 10L, 1L)))
      assert(query.step(row("a", 3), row("b", 3)).isEmpty)
      assert(query.late == Set(Row("a", 3L, "window_closed")))
      assert(query.step(row("b", 25)) == Set(Row("b", 0L, 10L, 2L)))
    }
  }

  for (generated <- Seq(true, false))
    test(
      s"rows that cannot be late are aggregated before the shuffle, generated code: $generated"
    ) {
      withConf(SQLConf.WHOLESTAGE_CODEGEN_ENABLED.key, generated.toString) {
        play("max_event_time", n, byKey: _*) { query =>
          assert(query.step(row("a", 1), row("b", 2)).isEmpty)
          assert(query.sureRows == 2)
          val closed = query.step(row("a", 4), row("a", 15), row("b", 9), row("b", 0))
          assert(closed == Set(Row("a", 0L, 10L, 2L)))
          assert(query.sureRows == 4)
          assert(query.step(row("a", 5), row("a", 16), row("b", 8), Row(null, "b", 1L)).isEmpty)
          assert(query.sureRows == 2)
          query.restart()
          assert(query.step(row("a", 21)) == Set(Row("a", 10L, 20L, 2L)))
          assert(query.sureRows == 0)
          assert(query.step(row("b", 3)).isEmpty && query.sureRows == 1) // though it is far behind
          assert(query.step(row("b", 23), row("a", 12)) == Set(Row("b", 0L, 10L, 5L)))
          assert(
            query.late == Set(
              Row("a", 5L, "window_closed"),
              Row("b", null, "bad_time"),
              Row("a", 12L, "window_closed")
            )
          )
        }
      }
    }

  test("every row is judged by its key where Spark may leave keys in any partition") {
    withConf(SQLConf.STATEFUL_OPERATOR_USE_STRICT_DISTRIBUTION.key, "false") {
      play("max_event_time", n, byKey: _*) { query =>
        assert(query.step(row("a", 1), row("b", 2)).isEmpty)
        assert(query.step(row("a", 4), row("a", 15), row("b", 3)) == Set(Row("a", 0L, 10L, 2L)))
        assert(query.step(row("a", 5), row("b", 25)) == Set(Row("b", 0L, 10L, 2L)))
        assert(query.sureRows == 0 && query.late == Set(Row("a", 5L, "window_closed")))
      }
    }
  }

  test("the code of a plan is shown without a batch") {
    play("max_event_time", n, byKey: _*) { query =>
      assert(query.code.contains("OnTimeRowFilterTask"))
    }
  }

  test("with one watermark all rows are aggregated that are not late by it") {
    val options = Seq("kind" -> "tumbling", "size" -> "PT10S", "key_idle_timeout" -> "PT30S")
    play("max_event_time", n, options: _*) { query =>
      assert(query.step(row("a", 1), row("b", 9)).isEmpty)
      assert(query.sureRows == 2)
      assert(query.step(row("a", 2), row("b", 8)).isEmpty)
      assert(query.sureRows == 2)
    }
  }

  test("a key that is silent gives what it has, marked, and once more what comes after that") {
    val options = byKey :+ ("key_idle_timeout" -> "PT30S") :+ ("heartbeat" -> "PT0.1S")
    play("min_event_time", n, options: _*) { query =>
      assert(query.step(row("a", 1), row("a", 12), row("b", 2)).isEmpty)
      assert(query.clock(29).isEmpty)
      assert(query.step(row("b", 3)).isEmpty)
      assert(
        query.clock(30) ==
          Set(Row("a", 0L, 10L, 1L, 0, "idle", false), Row("a", 10L, 20L, 1L, 0, "idle", false))
      )
      assert(query.step(row("a", 11), row("a", 5)).isEmpty)
      assert(
        query.step(row("a", 21)) == Set(
          Row("a", 0L, 10L, 1L, 1, "on_time", true),
          Row("a", 10L, 20L, 1L, 1, "on_time", true)
        )
      )
    }
  }

  test("late rows do not hold back the lowest time of a batch, by key or over all keys") {
    for (scope <- Seq("key", "global")) {
      val options = Seq("scope" -> scope, "kind" -> "tumbling", "size" -> "PT10S")
      play("min_event_time", n, options: _*) { query =>
        assert(query.step(row("a", 1)).isEmpty)
        assert(query.step(row("a", 12)) == Set(Row("a", 0L, 10L, 1L)), scope)
        assert(query.step(row("a", 3), row("a", 25)) == Set(Row("a", 10L, 20L, 1L)), scope)
        assert(query.late == Set(Row("a", 3L, "window_closed")), scope)
      }
    }
  }

  test("sessions of a key end a gap after its last row, in any order of rows") {
    val options = Seq("kind" -> "session", "gap" -> "PT5S")
    val all = Seq(sort_array(collect_list("amount")).as("all"))
    play("with_fixed_lag", all, options: _*) { query =>
      assert(query.step(row("a", 12, 1), row("a", 4, 2), row("b", 13, 3)).isEmpty)
      assert(query.step(row("a", 8, 4), row("b", 22, 5)).isEmpty)
      assert(
        query.step(row("b", 32, 6)) ==
          Set(Row("a", 4L, 17L, Seq(1, 2, 4)), Row("b", 13L, 18L, Seq(3)))
      )
      assert(
        query.step(row("a", 16), row("b", 50)) ==
          Set(Row("b", 22L, 27L, Seq(5)), Row("b", 32L, 37L, Seq(6)))
      )
      assert(query.late == Set(Row("a", 16L, "window_closed")))
    }
  }

  test("a session is as long as its maximum at the most, whatever the order of a batch's rows") {
    val options = Seq("kind" -> "session", "gap" -> "PT5S", "maximum_duration" -> "PT10S")
    play("with_fixed_lag", n, options: _*) { query =>
      assert(query.step(Seq(8, 0, 12, 4, 10).map(row("a", _)): _*).isEmpty)
      assert(query.step(row("a", 40)) == Set(Row("a", 0L, 10L, 3L), Row("a", 10L, 17L, 2L)))
    }
  }

  for (old <- Seq(3, DeferredLateRows.Few, DeferredLateRows.Few + 1000))
    test(s"a row is saved by later ones of its session, however many others are late: $old") {
      val options = Seq("scope" -> "key", "kind" -> "session", "gap" -> "PT5S")
      play("max_event_time", n, options :+ ("key_idle_timeout" -> "PT1H"): _*) { query =>
        assert(query.step(row("a", 100)).isEmpty)
        val late = (0 until old).map(i => row("a", i * 0.001))
        val saved = Seq(88, 92).map(row("a", _))
        assert(query.step(saved ++ late ++ Seq(96, 99).map(row("a", _)): _*).isEmpty)
        val session = query.step(row("a", 200))
        assert(session == Set(Row("a", 88L, 105L, 5L, 0, "on_time", true)))
        assert(query.lateCount == old)
      }
    }

  test("windows of so many rows of a key") {
    val all = Seq(collect_list("amount").as("all"))
    play("with_fixed_lag", all, "kind" -> "count", "rows" -> "3", "slide" -> "2") { query =>
      val rows = (1 to 5).map(i => row("a", 10 - i, i))
      assert(
        query.step(rows :+ row("b", 2): _*) == Set(
          Row("a", 0L, 2L, Seq(1, 2)),
          Row("a", 1L, 4L, Seq(2, 3, 4))
        )
      )
      assert(
        query.step(row("a", 0, 6), row("b", 30, 2)) == Set(
          Row("a", 3L, 6L, Seq(4, 5, 6)),
          Row("b", 0L, 2L, Seq(1, 2))
        )
      )
      assert(query.late.isEmpty)
    }
  }

  test("the state shows what windows hold, and the watermark of each key") {
    play("max_event_time", n, byKey: _*) { query =>
      query.step(row("a", 1), row("b", 2)): Unit
      query.step(row("a", 15), row("a", 4)): Unit
      assert(
        query.state == Set(
          Row("a", 10L, 20L, 1L, 15L),
          Row("b", 0L, 10L, 1L, 2L)
        )
      )
    }
  }

  test("a key that has nothing open is forgotten after its time to live, with its watermark") {
    val options = byKey ++ Seq("key_idle_timeout" -> "PT5S", "key_ttl" -> "PT20S")
    play("max_event_time", n, options :+ ("heartbeat" -> "PT0.1S"): _*) { query =>
      query.step(row("a", 15)): Unit
      assert(query.clock(5).nonEmpty)
      assert(query.step(row("a", 1)).isEmpty && query.late == Set(Row("a", 1L, "window_closed")))
      assert(query.clock(60).isEmpty)
      query.step(row("a", 1), row("b", 2)): Unit
      assert(query.late.size == 1)
    }
  }

  test("triggers give their results beside each other, each by its name") {
    val options = byKey :+ ("triggers" -> "at_window_end,on_update")
    play("max_event_time", n, options: _*) { query =>
      assert(
        query.step(row("a", 1), row("a", 2)) ==
          Set(Row("a", 0L, 10L, 2L, 0, "early", false, "on_update"))
      )
      assert(
        query.step(row("a", 12), row("a", 3)) == Set(
          Row("a", 0L, 10L, 3L, 1, "on_time", true, "at_window_end"),
          Row("a", 0L, 10L, 3L, 2, "on_time", true, "on_update"),
          Row("a", 10L, 20L, 1L, 0, "early", false, "on_update")
        )
      )
    }
  }

  test("a trigger by the clock asks for a batch when it is due") {
    val every = Seq("triggers" -> "every", "every" -> "PT5S")
    play("max_event_time", n, byKey ++ every: _*) { query =>
      assert(query.step(row("a", 1)).isEmpty)
      assert(query.clock(4.9).isEmpty)
      assert(query.clock(5) == Set(Row("a", 0L, 10L, 1L, 0, "early", false, "every")))
      assert(query.clock(30).isEmpty)
    }
  }

  test("a batch of rows gives every session once, as Spark's session windows do") {
    val rows = (0 until 300).map(i => row(s"u${i % 5}", (i * 37 % 400) * 0.9, i.toLong))
    val table = spark.createDataFrame(java.util.Arrays.asList(rows: _*), schema)
    val ours = RequestedWindow(
      table,
      "ts",
      Map.empty,
      Seq(col("user")),
      Seq(count(lit(1)).as("n"), sum("amount").as("sum")),
      Map("kind" -> "session", "gap" -> "PT5S", "profile" -> "spark")
    )
    val theirs = table
      .groupBy(session_window(col("ts"), "5 seconds"), col("user"))
      .agg(count(lit(1)), sum("amount"))
    assert(ours.collect().map(_.toString).toSet == theirs.collect().map(_.toString).toSet)
  }
}
