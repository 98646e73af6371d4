package io.eventtide.spark.operators.window

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.aggregate.Count
import org.apache.spark.sql.catalyst.expressions.{AttributeReference, Literal, UnsafeProjection}
import org.apache.spark.sql.execution.metric.SQLMetric
import org.apache.spark.sql.types.{DataType, IntegerType, LongType}
import org.scalatest.funsuite.AnyFunSuite

import io.eventtide.kernel.time.Frame
import io.eventtide.kernel.window.{ByteSink, Sliding, WindowSpec}
import io.eventtide.spark.EventtideException
import io.eventtide.spark.operators.{Preaggregation, ResultLayout, WindowOperatorSpec}
import io.eventtide.spark.options.{LateMode, LateSettings, WindowKind, WindowSettings}

/** What the operators do key by key; that their rows are right is tested by queries. */
final class KeyedWindowIteratorSuite extends AnyFunSuite {
  private def column(name: String, of: DataType) = AttributeReference(name, of)()

  private val key = column("key", IntegerType)
  private val frame = column("frame", LongType)
  private val result = Seq("start", "end", "n").map(column(_, LongType))

  private val plan = WindowOperatorSpec(
    Seq(key),
    frame,
    functions = Seq(Count(Seq(Literal(1)))),
    counts = Seq(-1),
    condition = None,
    ResultLayout(result.take(2), result.drop(2), Nil, key +: result),
    WindowSettings(
      "sliding",
      "",
      WindowKind.ByTime(WindowSpec(Frame(10, 0), Sliding(3))),
      byKey = None,
      emit = None,
      LateSettings(LateMode.Count, None)
    ),
    names = Seq(Seq("count(1)"))
  )

  private var taken = 0

  private def rowsOf(partial: (Int, Long, Long)*): BatchWindowIterator = {
    val columns = Seq(key, frame, column("count", LongType))
    val bytes = UnsafeProjection.create(columns, columns)
    val rows = partial.iterator.map { case (key, frame, n) =>
      taken += 1
      bytes(InternalRow(key, frame, n))
    }
    new BatchWindowIterator(plan, rows, Preaggregation.AllByFrame, new SQLMetric("sum"))
  }

  private def shown(row: InternalRow) =
    (row.getInt(0), row.getLong(1), row.getLong(2), row.getLong(3))

  test("in a batch a window is given as soon as a row behind it has come") {
    val found = rowsOf((1, 5, 1), (1, 6, 1), (1, 50, 1), (1, 51, 1), (2, 5, 1)).map { row =>
      (taken, shown(row))
    }
    assert(
      found.toList == List(
        (2, (1, 30, 60, 1L)),
        (3, (1, 40, 70, 2L)),
        (3, (1, 50, 80, 2L)),
        (3, (1, 60, 90, 1L)),
        (4, (1, 480, 510, 1L)),
        (5, (1, 490, 520, 2L)),
        (5, (1, 500, 530, 2L)),
        (5, (1, 510, 540, 1L)),
        (5, (2, 30, 60, 1L)),
        (5, (2, 40, 70, 1L)),
        (5, (2, 50, 80, 1L))
      )
    )
  }

  test("a key whose record is too large is refused by name") {
    val row = UnsafeProjection.create(Seq(key), Seq(key)).apply(InternalRow(7))
    val keys = new KeyedWindowIterator(plan) {
      protected def windows = throw new IllegalStateException("no key is open")
      protected def openNext(): Boolean = {
        select(row)
        new ByteSink(initial = 8, limit = 16).reserve(17)
        true
      }
      protected def continueKey(): Boolean = false
      protected def leaveKey(): Unit = ()
    }
    val error = intercept[EventtideException](keys.hasNext)
    assert(error.getMessage.startsWith("[KEY_TOO_LARGE] One state record"))
    assert(error.getMessage.contains("the key '7' takes more than 16 bytes"))
  }
}
