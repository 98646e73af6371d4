package io.eventtide.spark.state

import java.nio.file.Files

import scala.collection.mutable

import org.apache.hadoop.conf.Configuration
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{BoundReference, UnsafeProjection, UnsafeRow}
import org.apache.spark.sql.catalyst.plans.physical.HashPartitioning
import org.apache.spark.sql.execution.streaming.state.{
  StateStore,
  StateStoreConf,
  StateStoreId,
  StateStoreProvider
}
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.types.{IntegerType, StructType}
import org.scalatest.BeforeAndAfterEach
import org.scalatest.funsuite.AnyFunSuite
import org.scalatest.tags.Slow

import io.eventtide.kernel.window.FrameWindowState

/** The rows of partitions that become those of others; queries test what their records hold. */
@Slow
final class StateRecordsSuite extends AnyFunSuite with BeforeAndAfterEach {
  import StateRecordsSuite._

  private val columns = new StructType().add("key", IntegerType).add("site", IntegerType)
  private val keyOf = UnsafeProjection.create(columns)

  private val opened = mutable.ArrayBuffer.empty[(StateStoreProvider, StateStore)]

  override def afterEach(): Unit = {
    opened.foreach { case (provider, store) =>
      store.abort()
      provider.close()
    }
    opened.clear()
  }

  private def row(key: Int): UnsafeRow = keyOf(InternalRow(key, key % 3)).copy()

  private def filled(families: WindowStateLayout)(work: StateStore => Unit): StateStore = {
    val conf = new SQLConf
    conf.setConf(SQLConf.STATE_STORE_PROVIDER_CLASS, RocksDb)
    val id = StateStoreId(Files.createTempDirectory("records").toString, 0, 0)
    val provider = families.provider(id, new StateStoreConf(conf), new Configuration)
    val store = provider.getStore(0)
    opened += provider -> store
    work(store)
    store
  }

  /** A partition with keys of many batches, so that their ids have many lengths. */
  private def partition(families: WindowStateLayout, keys: Seq[Int]): StateStore =
    filled(families) { store =>
      keys.grouped(3).zipWithIndex.foreach { case (some, n) =>
        val frames = new FrameStore(store, families, 40L * n, now = () => 0, "timing")
        some.foreach(save(frames, _))
        frames.finish(closing = 5, highest = 10L * n): Unit
      }
    }

  private def save(frames: FrameStore, key: Int): Unit = {
    frames.groups.foreach { groups =>
      if (!groups.hasKey(row(key))) {
        groups.save(_.putByte(1))
        groups.openOf(row(key)): Unit
      }
    }
    frames.open(row(key)): Unit
    frames.save(key + 10L, boundary = 0, if (key % 2 == 0) key + 20L else Never, key + 30L) { out =>
      out.align()
      out.putByte(key)
    }
    frames.groups.foreach(_.save(_.putByte(1)))
    val blocks = frames.blocks
    val block = blocks.sink()
    block.putByte(key)
    blocks.write(4, block)
  }

  private def moved(
      families: WindowStateLayout,
      from: Seq[StateStore],
      to: Int
  ): Seq[FrameStore] = {
    val records = from.flatMap(new StateRecords(families, to).of(_).toSeq).groupBy(_._1._1)
    (0 until to).map { partition =>
      val ordered = records(partition).sortBy(_._1._2).map(_._2)
      val store = filled(families)(StateRecords.write(_, families, ordered.iterator))
      new FrameStore(store, families, batchId = 1000, now = () => 0, "timing")
    }
  }

  private def keysOf(frames: FrameStore): Seq[Int] = frames.allKeys.map(_.key.getInt(0)).toSeq

  for {
    groups <- Seq(None, Some(Seq(1)))
    hasFrameTimers <- Seq(true, false)
    (before, after) <- Seq(2 -> 5, 5 -> 2, 3 -> 1)
  } test(s"$before partitions become $after, groups $groups, frame timers $hasFrameTimers") {
    val families = WindowStateLayout(columns, groups, hasFrameTimers)
    val all = 0 until 60
    def placeOf(partitions: Int) = {
      val values = families.together.map(BoundReference(_, IntegerType, nullable = true))
      UnsafeProjection.create(Seq(HashPartitioning(values, partitions).partitionIdExpression))
    }
    def placed(partitions: Int) = all.groupBy(key => placeOf(partitions)(row(key)).getInt(0))
    val from = (0 until before).map(n => partition(families, placed(before).getOrElse(n, Nil)))
    val highest = placed(before).values.map(keys => 10L * ((keys.length - 1) / 3)).max
    val to = moved(families, from, after)
    to.zipWithIndex.foreach { case (frames, n) =>
      val keys = placed(after).getOrElse(n, Nil)
      assert(keysOf(frames).sorted == keys)
      assert(frames.keyCount == keys.length && frames.closed == 5 && !frames.timingChanged)
      assert(frames.watermark == highest)
      val ids = keys.map { key =>
        assert(frames.open(row(key)))
        frames.read { in =>
          in.align()
          assert(in.getByte() == key)
        }
        assert(frames.blocks.read(4).getByte() == key)
        frames.keyId
      }
      assert(ids.distinct.length == keys.length && ids.forall(_ < (1000L << 32)))
      assert(frames.byEnd.head == keys.map(_ + 10L).minOption.getOrElse(Never))
      assert(frames.byClock.head == keys.filter(_ % 2 == 0).map(_ + 20L).minOption.getOrElse(Never))
      val metadata = frames.finish(5, frames.watermark)
      val evens = keys.filter(_ % 2 == 0).map(_ + 20L)
      assert(metadata.processingTimers.first == evens.minOption.getOrElse(Never))
      frames.groups.foreach { of =>
        keys.groupBy(_ % 3).foreach { case (_, keys) =>
          assert(of.openOf(row(keys.head)) && of.index.head == keys.min + 30L)
        }
        assert(of.all.toSeq.length == keys.map(_ % 3).distinct.length)
      }
    }
    assert(to.map(keysOf(_).length).sum == all.length)
  }

  test("a schema that Spark stores has the layout") {
    for {
      groups <- Seq(None, Some(Seq(1)), Some(Seq(1, 0)))
      hasFrameTimers <- Seq(true, false)
    } {
      val layout = WindowStateLayout(columns, groups, hasFrameTimers)
      val read = WindowStateLayout.read(layout.schema)
      assert(read.groups == groups && read.hasFrameTimers == hasFrameTimers)
    }
  }
}

private object StateRecordsSuite {
  private val RocksDb = "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"
  private val Never = FrameWindowState.Never
}
