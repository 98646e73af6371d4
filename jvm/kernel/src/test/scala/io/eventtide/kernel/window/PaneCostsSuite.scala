package io.eventtide.kernel.window

import org.scalatest.funsuite.AnyFunSuite

import io.eventtide.kernel.time.Frame

/** What panes cost; that they are right is in `PanesLawsSuite`. */
final class PaneCostsSuite extends AnyFunSuite {
  import PaneCostsSuite._

  /** A key with a row and a pane on time in each batch, for windows of ten frames. */
  private final class Key(lateness: Long) {
    private val buffers = new ObjectBufferPool
    private val archive = new MemoryArchive
    private val time = new SharedWatermark
    private val windows = new FrameWindows(
      WindowSpec(Frame(1, 0), Sliding(10), delay = lateness),
      buffers,
      () =>
        FrameWindowState(Sliding(10), buffers, FrameCombining.Merge, BlockStore.None, Int.MaxValue),
      FrameArchive(archive, blockSize = 8),
      lateness
    )
    private val early = Trigger(atEnd = true, every = Some(1L << 40))
    private val key = new AggregatingWindows(windows, time, KeyIdleness(None, ttl = 0), Seq(early))
    private var record = new ByteSink
    key.begin()
    key.write(record)

    def batch(frame: Long, rows: Long*): (Seq[(Long, PaneTiming)], Cost) = {
      buffers.reset()
      buffers.merges = 0
      archive.reads = 0
      archive.writes = 0
      val in = new ByteSource
      in.reset(record.bytes, 0)
      time.set(Some(frame), Some(frame + 1))
      key.read(in)
      rows.foreach(row => key.add(row, now = 0, buffers.of(row.toInt)))
      key.close(now = 0, None)
      val panes = Iterator.continually(key.next()).takeWhile(identity).map { _ =>
        key.result: Unit
        key.end -> key.timing
      }
      (panes.toList, costOf())
    }

    private def costOf(): Cost = {
      record = new ByteSink
      key.write(record)
      Cost(buffers.merges, buffers.mostLive, archive.reads + archive.writes, record.position)
    }
  }

  for (lateness <- Seq(100L, 3600L)) {
    test(s"a pane on time costs the same whatever the lateness: $lateness") {
      val key = new Key(lateness)
      val costs = (0L until lateness * 2).map { frame =>
        val (panes, cost) = key.batch(frame, frame)
        assert(panes == Seq(frame + 1 -> PaneTiming.OnTime))
        cost
      }
      val Cost(merges, buffers, blocks, record) = costs.reduce(_ max _)
      assert(merges < 25)
      assert(buffers < 30 + 4 * math.sqrt(lateness.toDouble))
      assert(blocks <= 3)
      assert(record < 500 + 10 * math.sqrt(lateness.toDouble))
    }

    test(s"a late row costs its windows whatever the lateness: $lateness") {
      val key = new Key(lateness)
      (0L until lateness * 2).foreach(frame => key.batch(frame, frame))
      val now = lateness * 2
      val (panes, cost) = key.batch(now, now, now - lateness / 2)
      val late = (now - lateness / 2 + 1 to now - lateness / 2 + 10).map(_ -> PaneTiming.Late)
      assert(panes == late :+ (now + 1 -> PaneTiming.OnTime))
      assert(cost.merges < 120)
      assert(cost.blocks <= 10)
    }
  }
}

object PaneCostsSuite {

  /** What a batch has cost, at the most. */
  final case class Cost(merges: Int, buffers: Int, blocks: Int, record: Int) {
    def max(other: Cost): Cost = Cost(
      math.max(merges, other.merges),
      math.max(buffers, other.buffers),
      math.max(blocks, other.blocks),
      math.max(record, other.record)
    )
  }
}
