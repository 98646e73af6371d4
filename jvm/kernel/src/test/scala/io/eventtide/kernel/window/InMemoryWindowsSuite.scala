package io.eventtide.kernel.window

import org.scalatest.funsuite.AnyFunSuite

import io.eventtide.kernel.InvalidArgument
import io.eventtide.kernel.time.Frame

/** What can be told about the engine by example; the rest is in `KeyedWindowsLawsSuite`. */
final class InMemoryWindowsSuite extends AnyFunSuite {
  private val buffers = new ObjectBufferPool

  private def engine(profile: Profile, shape: WindowShape = Sliding(2)): InMemoryWindows[String] =
    new InMemoryWindows(WindowSpec(Frame(10), shape, profile), buffers, deducts = true)

  private type Panes = (InMemoryWindows.Pane[String] => Unit) => Unit

  private def panes(close: Panes): Seq[(Long, Long, Seq[Int])] = {
    val all = Seq.newBuilder[(Long, Long, Seq[Int])]
    close(pane => all += ((pane.start, pane.end, buffers(pane.buffer).sorted)))
    all.result()
  }

  private def row(engine: InMemoryWindows[String], ts: Long, row: Int): Option[LateRule] =
    engine.observe("k", ts, buffers.of(row))

  test("nothing is late before there is a watermark") {
    val windows = engine(Profile.eventtide)
    assert(row(windows, Long.MinValue, 1).isEmpty)
    assert(windows.watermark("k").isEmpty)
  }

  test("a row that storm would lose, equal to the watermark and to an end, is in all its windows") {
    val windows = engine(Profile.storm)
    row(windows, 5, 1)
    row(windows, 20, 2)
    assert(panes(windows.advance(20)) == Seq((-10L, 10L, Seq(1))))
    assert(row(windows, 20, 3).isEmpty)
    assert(row(windows, 40, 4).isEmpty)
    val late = Seq((0L, 20L, Seq(1, 2, 3)), (10L, 30L, Seq(2, 3)))
    assert(panes(windows.advance(40)) == late)
    assert(panes(windows.finish) == Seq((20L, 40L, Seq(4)), (30L, 50L, Seq(4))))
  }

  test("an inclusive watermark closes a window at its last unit") {
    val windows = engine(Profile.flink, Sliding(1))
    row(windows, 3, 1)
    assert(panes(windows.advance(8)).isEmpty)
    assert(panes(windows.advance(9)) == Seq((0L, 10L, Seq(1))))
    assert(row(windows, 9, 2).contains(LateRule.WindowClosed))
  }

  test("a key that has its own watermark closes no window of another key") {
    val windows = engine(Profile.voltsp, Sliding(1))
    windows.observe("a", 1, buffers.of(1))
    windows.observe("b", 2, buffers.of(2))
    assert(panes(windows.advance("a", 30)) == Seq((0L, 10L, Seq(1))))
    assert(windows.observe("b", 8, buffers.of(3)).isEmpty)
    assert(windows.observe("a", 8, buffers.of(4)).nonEmpty)
    assert(panes(windows.finish) == Seq((0L, 10L, Seq(2, 3))))
  }

  test("open windows are shown as they are, and stay open") {
    val windows = engine(Profile.eventtide)
    row(windows, 5, 1)
    row(windows, 15, 2)
    panes(windows.advance(10))
    val open = Seq((0L, 20L, Seq(1, 2)), (10L, 30L, Seq(2)))
    assert(panes(windows.open) == open)
    assert(panes(windows.finish) == open)
  }

  test("parts of an engine come together, from the lowest watermark if they may differ") {
    def part(key: String, watermark: Long): InMemoryWindows.Saved[String] = {
      val one = engine(Profile.eventtide, Sliding(1))
      panes(one.advance(watermark))
      one.observe(key, 100, buffers.of(watermark.toInt))
      one.save()
    }
    val parts = Seq(part("a", 20), part("b", 10))
    val refusal = intercept[InvalidArgument](engine(Profile.jet).restore(parts, exactly = true))
    assert(refusal.getMessage.contains("20") && refusal.getMessage.contains("10"))

    val whole = engine(Profile.eventtide, Sliding(1))
    whole.restore(parts, exactly = false)
    assert(whole.watermark("a").contains(10L))
    assert(panes(whole.finish).map(_._3.head).sorted == Seq(10, 20))
  }

  test("parts that have nothing to say yet leave the watermark unknown") {
    val windows = engine(Profile.eventtide)
    windows.restore(Seq(engine(Profile.eventtide).save()), exactly = true)
    assert(windows.watermark("k").isEmpty)
  }

  test("a delay below zero is refused") {
    intercept[InvalidArgument](WindowSpec(Frame(10), Sliding(1), delay = -1))
  }

  test("profiles have names of their own, and can be sent to a task") {
    assert(Profile.all.map(_.name).distinct == Profile.all.map(_.name))
    Profile.all.foreach { profile =>
      val spec = WindowSpec(Frame(10), Sliding(2), profile)
      val bytes = new java.io.ByteArrayOutputStream
      new java.io.ObjectOutputStream(bytes).writeObject(spec)
      val in = new java.io.ByteArrayInputStream(bytes.toByteArray)
      val copy = new java.io.ObjectInputStream(in).readObject().asInstanceOf[WindowSpec]
      assert(copy == spec && copy.closed(25) == spec.closed(25))
    }
  }
}
