package io.eventtide.spark.operators.window

import java.nio.file.Files
import java.nio.{ByteBuffer, ByteOrder}

import scala.collection.mutable

import org.apache.spark.sql.eventtide.TestQuery
import org.apache.spark.sql.functions._
import org.apache.spark.sql.types.StructType
import org.apache.spark.sql.{Column, DataFrame, Row, classic}
import org.scalatest.funsuite.AnyFunSuite
import org.scalatest.tagobjects.Slow

import io.eventtide.spark.testkit.{ScriptProvider, ScriptSource}
import io.eventtide.spark.{LocalSession, RequestedWindow}

/** Storm's windows in a real query: aggregates over rows that are kept one by one, and the rows. */
final class RetainedRowWindowOperatorSuite extends AnyFunSuite with LocalSession {
  private val schema = StructType.fromDDL("ts TIMESTAMP, user STRING, id LONG")

  override protected def beforeAll(): Unit = {
    super.beforeAll()
    val rocks = "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"
    spark.conf.set("spark.sql.streaming.stateStore.providerClass", rocks)
  }

  private def row(id: Long, seconds: Double, user: String = "a"): Row =
    Row(new java.sql.Timestamp(1000000 + (seconds * 1000).toLong), user, id)

  private final class Played(aggregates: Seq[Column], options: (String, String)*) {
    private val script = ScriptSource.create(schema)
    private val events =
      spark.readStream.format(classOf[ScriptProvider].getName).option("script", script.id).load()
    private val result = over(events)
    val checkpoint: String = Files.createTempDirectory("storm").toString
    private val scripted =
      new TestQuery(result.asInstanceOf[classic.DataFrame], "append", checkpoint, 1000000)
    scripted.start(availableNow = false)

    def over(rows: DataFrame): DataFrame = RequestedWindow(
      rows,
      "ts",
      Map("policy" -> "with_fixed_lag", "lag" -> "PT5S"),
      Seq(col("user")),
      aggregates,
      (options.toMap + ("kind" -> "storm"))
    )

    def step(rows: Row*): Seq[Row] = {
      script.add(spark.createDataFrame(java.util.Arrays.asList(rows: _*), schema).coalesce(1))
      scripted.awaitIdle()
      scripted.newResults().collect().toSeq
    }

    def late: Set[Any] = spark.read
      .format("eventtide-late")
      .option("checkpoint", checkpoint)
      .load()
      .collect()
      .map(_.getAs[Long]("id"))
      .toSet

    def restart(): Unit = {
      scripted.stop()
      scripted.start(availableNow = false)
    }

    def stop(): Unit = scripted.stop()
  }

  private def play(aggregates: Seq[Column], options: (String, String)*)(
      steps: Played => Unit
  ): Unit = {
    val played = new Played(aggregates, options: _*)
    try steps(played)
    finally played.stop()
  }

  private val ids = Seq(collect_list("id").as("ids"), sum("id").as("total"))

  /** Ends in seconds, with starts where there are some, and ids. */
  private def merged(rows: Seq[Row]): Set[(String, Option[Long], Long, Seq[Long])] =
    rows.map { row =>
      val window = row.getStruct(0)
      val ids = row.getSeq[Long](2)
      assert(row.getLong(3) == ids.sum)
      (row.getString(1), Option(window.getTimestamp(0)).map(at), at(window.getTimestamp(1)), ids)
    }.toSet

  private def at(time: java.sql.Timestamp): Long = time.getTime / 1000 - 1000

  test("the page's example, as aggregates", Slow) {
    play(ids, "length.time" -> "PT20S", "slide.time" -> "PT10S") { played =>
      val first = Seq(3, 5, 7, 18, 26, 36).zipWithIndex.map { case (at, i) =>
        row(i + 1L, at.toDouble)
      }
      val windows = Set(
        ("a", Some(-10L), 10L, Seq(1L, 2L, 3L)),
        ("a", Some(0L), 20L, Seq(1L, 2L, 3L, 4L)),
        ("a", Some(10L), 30L, Seq(4L, 5L))
      )
      assert(merged(played.step(first: _*)) == windows)
      played.restart()
      val second = Seq(7225, 7226, 7227, 7239).zipWithIndex.map { case (at, i) =>
        row(i + 7L, at.toDouble)
      }
      val others = Set(
        ("a", Some(20L), 40L, Seq(5L, 6L)),
        ("a", Some(30L), 50L, Seq(6L)),
        ("a", Some(7210L), 7230L, Seq(7L, 8L, 9L))
      )
      assert(merged(played.step(second: _*)) == others)
      assert(
        merged(played.step(row(11, 7233), row(12, 7234), row(13, 7300))) == Set(
          ("a", Some(7220L), 7240L, Seq(7L, 8L, 9L, 10L, 12L)),
          ("a", Some(7230L), 7250L, Seq(10L, 12L))
        )
      )
      assert(played.late == Set(11L))
    }
  }

  test("the last rows of each key, at every slide and whenever so many have been counted") {
    play(ids, "length.rows" -> "2", "slide.time" -> "PT10S") { played =>
      val rows = Seq(row(1, 3), row(2, 5), row(3, 7, "b"), row(4, 12), row(5, 26))
      assert(
        merged(played.step(rows: _*)) == Set(
          ("a", None, 10L, Seq(1L, 2L)),
          ("a", None, 20L, Seq(2L, 4L)),
          ("b", None, 10L, Seq(3L)),
          ("b", None, 20L, Seq(3L))
        )
      )
    }
    play(ids, "length.rows" -> "3", "slide.rows" -> "2") { played =>
      val rows = Seq(row(1, 3), row(2, 5), row(3, 2), row(4, 4), row(5, 26), row(6, 30))
      assert(
        merged(played.step(rows: _*)) == Set(
          ("a", None, 5L, Seq(1L, 2L)),
          ("a", None, 5L, Seq(2L, 3L, 4L))
        )
      )
      played.restart()
      assert(merged(played.step(row(7, 40))) == Set(("a", None, 30L, Seq(4L, 5L, 6L))))
    }
    play(ids, "length.time" -> "PT20S", "slide.rows" -> "3") { played =>
      val rows = Seq(3, 5, 7, 18, 25, 26, 29, 36).zipWithIndex.map { case (at, i) =>
        row(i + 1L, at.toDouble)
      }
      assert(
        merged(played.step(rows: _*)) == Set(
          ("a", Some(-13L), 7L, Seq(1L, 2L, 3L)),
          ("a", Some(6L), 26L, Seq(3L, 4L, 5L, 6L))
        )
      )
    }
  }

  /** Each window by its key and end, with the rows that it has and had before, put together. */
  private def handedOut(lines: Seq[Row]): Set[(String, Long, Set[Long], Set[Long])] = {
    val rows = mutable.Buffer.empty[Long]
    var had = Seq.empty[Int] // of the rows there are when it is asked
    var key = ""
    def of(ranges: Seq[Int]) = ranges
      .grouped(2)
      .flatMap { range =>
        rows.slice(range.head, range.last)
      }
      .toSet
    lines.flatMap { line =>
      if (!line.isNullAt(2)) {
        key = line.getStruct(2).getStruct(0).getString(0)
        had = numbers(line.getStruct(2).getAs[Array[Byte]](1))
        rows.clear()
      }
      rows ++= line.getSeq[Row](1).map(_.getAs[Long]("id"))
      Option.when(!line.isNullAt(0)) {
        val window = line.getStruct(0)
        val before = had
        had = numbers(window.getAs[Array[Byte]](2))
        (key, at(window.getTimestamp(1)), of(had), of(before))
      }
    }.toSet
  }

  private def numbers(bytes: Array[Byte]): Seq[Int] = {
    val all = ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN).asIntBuffer
    Seq.fill(all.remaining)(all.get())
  }

  test("rows are handed out once a batch, with the windows that have them", Slow) {
    play(Nil, "length.time" -> "PT20S", "slide.time" -> "PT10S", "result" -> "rows") { played =>
      val rows = Seq(3, 7, 5, 18, 26, 36).zipWithIndex.map { case (at, i) =>
        row(i + 1L, at.toDouble)
      }
      val lines = played.step(rows: _*)
      assert(lines.map(_.getSeq[Row](1).length) == Seq(3, 1, 1))
      assert(
        handedOut(lines) == Set(
          ("a", 10L, Set(1L, 2L, 3L), Set()),
          ("a", 20L, Set(1L, 2L, 3L, 4L), Set(1L, 2L, 3L)),
          ("a", 30L, Set(4L, 5L), Set(1L, 2L, 3L, 4L))
        )
      )
      played.restart()
      val more = played.step(row(7, 45), row(8, 30))
      assert(handedOut(more) == Set())
      assert(played.late == Set(8L))
      assert(
        handedOut(played.step(row(9, 56))) == Set(
          ("a", 40L, Set(5L, 6L), Set(4L, 5L)),
          ("a", 50L, Set(6L, 7L), Set(5L, 6L))
        )
      )
    }
  }

  test("many rows of a window, or long ones, come in several lines", Slow) {
    val long = "a" * 600000
    for ((user, count, lines) <- Seq(("a", 2500, Seq(1000, 1000, 500)), (long, 3, Seq(2, 1))))
      play(Nil, "length.time" -> "PT20S", "slide.time" -> "PT10S", "result" -> "rows") { played =>
        val rows = (1 to count).map(id => row(id.toLong, 3, user)) :+ row(0, 16, user)
        val sent = played.step(rows: _*)
        assert(sent.map(_.getSeq[Row](1).length) == lines)
        assert(sent.map(_.isNullAt(0)) == lines.init.map(_ => true) :+ false)
        assert(handedOut(sent).map(_._3) == Set((1L to count.toLong).toSet))
      }
  }

  test("a batch DataFrame gives every window") {
    val played = new Played(ids, "length.time" -> "PT20S", "slide.time" -> "PT10S")
    played.stop()
    val rows = Seq(row(1, 3), row(2, 26), row(3, 8, "b"))
    val batch = spark.createDataFrame(java.util.Arrays.asList(rows: _*), schema)
    assert(
      merged(played.over(batch).collect().toSeq) == Set(
        ("a", Some(-10L), 10L, Seq(1L)),
        ("a", Some(0L), 20L, Seq(1L)),
        ("a", Some(10L), 30L, Seq(2L)),
        ("a", Some(20L), 40L, Seq(2L)),
        ("b", Some(-10L), 10L, Seq(3L)),
        ("b", Some(0L), 20L, Seq(3L))
      )
    )
  }
}
