package io.eventtide.kernel.window

import org.scalatest.funsuite.AnyFunSuite

import io.eventtide.kernel.InvalidArgument
import io.eventtide.kernel.time.Frame
import io.eventtide.kernel.watermark._

/** What can be told about keys in their own time by example; see also `InMemoryBatchesLawsSuite`. */
final class AggregatingWindowsSuite extends AnyFunSuite {
  private val buffers = new ObjectBufferPool
  private val spec = WindowSpec(Frame(10, 0), Sliding(1), Profile.voltsp)

  private def frames(): FrameWindows = new FrameWindows(spec, buffers, newState _)

  private def newState(): FrameWindowState =
    FrameWindowState(spec.shape, buffers, FrameCombining.Merge, BlockStore.None, Int.MaxValue)

  private def key(policy: PolicySpec, idleness: KeyIdleness): AggregatingWindows = {
    val made =
      new AggregatingWindows(frames(), new PerKeyWatermark(policy, credited = true), idleness)
    made.begin()
    made
  }

  private def close(windows: AggregatingWindows, now: Long): Int = {
    windows.close(now, None)
    Iterator.continually(windows.next()).takeWhile(identity).size
  }

  test("the watermark of a key and its idleness are at most 32 bytes beside its windows") {
    for (policy <- Seq(MinEventTime(), MaxEventTime(), WithFixedLag(5))) {
      val far = 1700000000000000L
      val windows = key(policy, KeyIdleness(Some(far), ttl = far))
      windows.add(far, now = far, buffers.of(1))
      assert(close(windows, far) == 0)
      val state = newState()
      state.begin(Long.MinValue)
      state.add(spec.frames.index(far), buffers.of(1)): Unit
      val beside = Records.bytes(windows.write).length - Records.bytes(state.write).length
      assert(beside <= 32, policy)
    }
  }

  test("a key with open windows is due when it has been silent for the timeout") {
    val windows = key(MinEventTime(), KeyIdleness(Some(7), ttl = 100))
    windows.add(3, now = 50, buffers.of(1))
    assert(close(windows, 50) == 0)
    assert(windows.deadline == 57)
    assert(close(windows, 56) == 0)
    assert(close(windows, 57) == 1)
  }

  test("a key that holds nothing is forgotten its ttl after its last row") {
    val windows = key(MaxEventTime(), KeyIdleness(Some(7), ttl = 100))
    windows.add(3, now = 50, buffers.of(1))
    close(windows, 57): Unit
    assert(!windows.isDone && windows.deadline == 150)
    close(windows, 149): Unit
    assert(!windows.isDone)
    close(windows, 150): Unit
    assert(windows.isDone)
  }

  test("a key whose policy follows the clock is due when it closes a window") {
    val windows = key(LimitingLagAndLull(0, 5), KeyIdleness(None, ttl = 100))
    windows.add(3, now = 50, buffers.of(1))
    assert(close(windows, 50) == 0)
    assert(windows.deadline == 50 + 5 + 7)
    assert(close(windows, 62) == 1)
  }

  test("a key's watermark is not above its rows, wherever the clock would have it") {
    val windows = key(LimitingTimestampAndWallClockLag(5, 0), KeyIdleness(None, ttl = 100))
    windows.add(3, now = 50, buffers.of(1))
    assert(close(windows, 50) == 0)
    assert(windows.watermark.contains(3L))
    val record = Records.bytes(windows.write)
    Records.readAll(record)(windows.read)
    assert(windows.watermark.contains(3L))
    assert(close(windows, 51) == 1)
    assert(windows.watermark.contains(51L))
  }

  test("a row from the future counts as of the latest time that is not") {
    val time = new PerKeyWatermark(MaxEventTime(), credited = true, latest = 20)
    val windows = new AggregatingWindows(frames(), time, KeyIdleness(None, ttl = 100))
    windows.begin()
    assert(windows.add(99, now = 10, buffers.of(1)))
    assert(close(windows, 10) == 0)
    assert(windows.watermark.contains(20L))
  }

  test("no key is idle while elapsed time does not count") {
    val windows = key(MaxEventTime(), KeyIdleness(Some(7), ttl = 100))
    windows.add(3, now = 50, buffers.of(1))
    windows.close(500, None, credited = false)
    assert(!windows.next())
    assert(close(windows, 500) == 1)
  }

  private def counted(idleness: KeyIdleness): AggregatingWindows = {
    val made = new AggregatingWindows(
      new CountWindows(CountSpec(2, 2), newState _),
      new PerKeyWatermark(MaxEventTime(), credited = true),
      idleness
    )
    made.begin()
    made
  }

  test("a row without a time counts, and moves no watermark") {
    val windows = counted(KeyIdleness(None, ttl = 100))
    windows.addWithoutTime(now = 50, buffers.of(1))
    assert(close(windows, 50) == 0)
    assert(windows.watermark.isEmpty)
    windows.add(3, now = 50, buffers.of(2))
    assert(close(windows, 50) == 1)
    assert(windows.watermark.contains(3L))
  }

  test(
    "a row without a time is a sign of life, at the watermark where idleness is told by events"
  ) {
    val byClock = counted(KeyIdleness(Some(7), ttl = 100))
    byClock.addWithoutTime(now = 50, buffers.of(1))
    assert(close(byClock, 50) == 0 && byClock.deadline == 57)
    val inEventTime = counted(KeyIdleness(Some(7), ttl = 100, inEventTime = true))
    inEventTime.addWithoutTime(now = 50, buffers.of(1))
    inEventTime.close(50, overall = Some(30))
    assert(!inEventTime.next() && inEventTime.dueByIdleness == 37)
    inEventTime.close(51, overall = Some(37))
    assert(inEventTime.next())
  }

  private val lenient = KeyIdleness(Some(7), ttl = 100)

  private def updated(windows: WindowSet): AggregatingWindows = {
    val time = new PerKeyWatermark(MaxEventTime(), credited = true)
    val made = new AggregatingWindows(windows, time, lenient)
    made.begin()
    made
  }

  private def panes(windows: AggregatingWindows, now: Long): Seq[(PaneTiming, Seq[Int])] = {
    windows.close(now, None)
    val all = Iterator.continually(windows.next()).takeWhile(identity).map { _ =>
      windows.timing -> buffers(windows.result).sorted
    }
    val shown = all.toList
    windows.beginBatch()
    shown
  }

  private val blocks = new MemoryArchive
  private val kept = FrameArchive(blocks, blockSize = 1)
  private val wide = spec.copy(delay = 50)

  for {
    (name, windows) <- Seq(
      "frames" -> (() => updated(new FrameWindows(wide, buffers, newState _, kept, lateness = 50))),
      "a session" -> (() => updated(new Sessions(SessionSpec(Some(10L), delay = 50), buffers, 50)))
    )
  } test(s"what idleness has closed is updated with all its rows while it can change: $name") {
    val key = windows()
    key.add(3, now = 50, buffers.of(1))
    assert(panes(key, 50).isEmpty)
    assert(panes(key, 57) == Seq(PaneTiming.Idle -> Seq(1)))
    assert(panes(key, 58).isEmpty) // and is not emitted again
    key.add(2, now = 60, buffers.of(2))
    assert(panes(key, 60) == Seq(PaneTiming.Late -> Seq(1, 2)))
    key.add(12, now = 61, buffers.of(3))
    assert(
      panes(key, 68).head == PaneTiming.Idle -> (if (name == "frames") Seq(3) else Seq(1, 2, 3))
    )
    assert(!key.isDone && key.deadline >= 161)
    key.close(161 + 7, None)
    assert(!key.next() && key.isDone && blocks.size == 0)
  }

  test("rows of a session whose end comes earlier are not lost from a discarding result") {
    val time = new SharedWatermark
    val sessions =
      new Sessions(SessionSpec(Some(50L), maximum = Some(100), delay = 60), buffers, lateness = 60)
    val key = new AggregatingWindows(
      sessions,
      time,
      KeyIdleness(None, ttl = 0),
      discarding = Some(buffers)
    )
    time.set(None, Some(197))
    key.begin()
    Seq(100L, 140L, 180L).foreach(ts => key.add(ts, now = 0, buffers.of(ts.toInt)))
    assert(panes(key, now = 0).isEmpty) // it ends at 200
    time.set(Some(197), Some(197))
    Records.readAll(Records.bytes(key.write))(key.read)
    key.add(95, now = 0, buffers.of(95)) // now it ends at 195
    assert(panes(key, now = 0) == Seq(PaneTiming.OnTime -> Seq(95, 100, 140, 180)))
  }

  private def early(trigger: Trigger): AggregatingWindows = {
    val time = new SharedWatermark
    time.set(None, Some(4))
    new AggregatingWindows(frames(), time, KeyIdleness(None, ttl = 0), Seq(trigger))
  }

  test("a run may add, change and drop the conditions of early results") {
    val triggers = Seq(
      Trigger.AtEnd,
      Trigger(atEnd = true, every = Some(5)),
      Trigger(atEnd = true, rows = Some(2)),
      Trigger(atEnd = true, onCondition = true)
    )
    for (before <- triggers; after <- triggers) {
      val windows = early(before)
      windows.begin()
      windows.add(3, now = 50, buffers.of(1))
      close(windows, 50): Unit
      val again = early(after)
      Records.readAll(Records.bytes(windows.write))(again.read)
      again.add(12, now = 51, buffers.of(2))
      close(again, 51): Unit
      assert(
        again.deadline == (if (after.every.isEmpty) WindowSet.Never
                           else if (before == after) 55
                           else 56)
      )
      again.beginBatch()
      again.close(52, None)
      again.closeAll()
      assert(Iterator.continually(again.next()).takeWhile(identity).size == 2)
    }
  }

  test("idleness that is no time is refused") {
    assertThrows[InvalidArgument](KeyIdleness(Some(0), ttl = 1))
    assertThrows[InvalidArgument](KeyIdleness(None, ttl = -1))
  }
}
