package io.eventtide.spark.state

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.UnsafeProjection
import org.apache.spark.sql.eventtide.{InTask, TaskScans}
import org.apache.spark.sql.execution.streaming.state.StateStore
import org.apache.spark.sql.types.{IntegerType, StructType}
import org.scalatest.funsuite.AnyFunSuite

import io.eventtide.kernel.window.FrameWindowState
import io.eventtide.spark.EventtideException

/** What a partition knows of itself, and formats that are refused; queries test all the rest. */
final class FrameStoreSuite extends AnyFunSuite with PartitionBatches {
  override protected val families: WindowStateLayout = WindowStateLayout(
    new StructType().add("key", IntegerType)
  )
  private val keyOf = UnsafeProjection.create(families.keys)

  private def batch[A](work: (StateStore, FrameStore) => A): A =
    inBatch(store => work(store, new FrameStore(store, families, version, now = () => 0)))

  private def save(frames: FrameStore, key: Int): Unit = {
    frames.open(keyOf(InternalRow(key))): Unit
    frames.save(nextEventTimer = 7, boundary = 0, FrameWindowState.Never)(_.putByte(key))
  }

  test("keys are counted from batch to batch, saved again or dropped") {
    val counts = Seq(Seq(1, 2, 3), Seq(2, 4)).map { keys =>
      batch { (_, frames) =>
        keys.foreach(save(frames, _))
        frames.finish(4, highest = 30).keys
      }
    }
    val left = batch { (_, frames) =>
      assert(frames.open(keyOf(InternalRow(4))))
      frames.drop(): Unit
      frames.finish(5, frames.watermark + 1)
    }
    assert(counts == Seq(3, 4))
    assert(
      left == PartitionMeta(
        3,
        7,
        FrameWindowState.Never,
        5,
        31,
        "",
        left.eventTimers,
        left.processingTimers
      )
    )
    assert(left.processingTimers.first == FrameWindowState.Never)
  }

  test("keys in the cache are among all keys") {
    batch { (store, _) =>
      val frames = new FrameStore(store, families, version, now = () => 0, cachedBytes = 1 << 20)
      Seq(5, 6).foreach(save(frames, _))
      val all = frames.allKeys
      try assert(Set(5, 6).subsetOf(all.map(_.key.getInt(0)).toSet))
      finally all.close()
      frames.finish(5, highest = 30): Unit
    }
    batch { (_, frames) => assert(frames.open(keyOf(InternalRow(6)))) }
  }

  test("in real-time mode, scans leave no listeners on the task") {
    batch { (_, frames) =>
      save(frames, 1)
      frames.finish(0, highest = 30): Unit
    }
    def listenersOf(scans: => Option[TaskScans]): Int = InTask {
      inBatch { store =>
        val frames = new FrameStore(store, families, version, now = () => 0, scans = scans)
        val before = InTask.listeners
        (1 to 100).foreach(_ => assert(frames.byEnd.head == 7))
        val added = InTask.listeners - before
        frames.finish(0, highest = 30): Unit
        added
      }
    }
    assert(listenersOf(Some(new TaskScans)) == 0)
    assert(listenersOf(None) == 100) // else Spark no longer adds them, and TaskScans can go
  }

  test("a group is there as long as one of its keys, which are by their ends within it") {
    val grouped = new StructType().add("key", IntegerType).add("site", IntegerType)
    val families = WindowStateLayout(grouped, Some(Seq(1)))
    val keyOf = UnsafeProjection.create(grouped)
    def turn(frames: FrameStore, key: Int, site: Int): WatermarkGroupStore = {
      val group = frames.groups.get
      val row = keyOf(InternalRow(key, site)).copy()
      if (!group.hasKey(row)) {
        group.save(_.putByte(site))
        group.openOf(row): Unit
      }
      frames.open(row): Unit
      group
    }
    def put(frames: FrameStore, key: Int, site: Int, end: Long): Unit = {
      turn(frames, key, site)
      frames.save(
        FrameWindowState.Never,
        boundary = 0,
        FrameWindowState.Never,
        nextGroupTimer = end
      )(
        _.putByte(key)
      )
    }
    val provider = newProvider(families)
    var version = 0L
    def batch(work: FrameStore => Unit): Unit = {
      val store = provider.getStore(version)
      work(new FrameStore(store, families, version, now = () => 0))
      store.commit(): Unit
      version += 1
    }
    try {
      batch { frames =>
        put(frames, 1, site = 8, end = 30)
        put(frames, 2, site = 8, end = 20)
        put(frames, 3, site = 9, end = 10)
        frames.groups.get.save(_.putByte(9))
      }
      batch { frames =>
        assert(turn(frames, 1, site = 8).index.head == 20)
        assert(turn(frames, 3, site = 9).index.head == 10)
        frames.drop(): Unit
        assert(frames.groups.get.index.head == FrameWindowState.Never)
        put(frames, 2, site = 8, end = 40)
        assert(frames.groups.get.index.head == 30)
      }
      batch { frames =>
        assert(frames.groups.get.all.map(_.key.getInt(0)).toSeq == Seq(8))
        assert(turn(frames, 2, site = 8).index.head == 30)
      }
    } finally provider.close()
  }

  test("a partition with keys and without metadata has an old format, which is refused") {
    batch { (store, frames) =>
      save(frames, 1)
      frames.finish(0, frames.watermark): Unit
      val all = store.iterator(WindowStateLayout.PartitionMeta).map(_.key.copy()).toList
      all.foreach(store.remove(_, WindowStateLayout.PartitionMeta))
      val old = new BinaryRow
      old.begin().putByte(1)
      frames.allKeys.map(_.key.copy()).toList.foreach(store.put(_, old.end()))
    }
    val error = intercept[EventtideException](batch((_, _) => ()))
    assert(error.condition == "STATE_VERSION")
    assert(error.getMessage.contains("has format version 1; this version of Eventtide reads 8"))
  }
}
