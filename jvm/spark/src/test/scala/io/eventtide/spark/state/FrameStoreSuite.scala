package io.eventtide.spark.state

import java.nio.file.Files

import org.apache.hadoop.conf.Configuration
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.UnsafeProjection
import org.apache.spark.sql.execution.streaming.state.{StateStore, StateStoreConf, StateStoreId}
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.types.{IntegerType, StructType}
import org.scalatest.BeforeAndAfterAll
import org.scalatest.funsuite.AnyFunSuite

import io.eventtide.kernel.window.FrameRing
import io.eventtide.spark.EventtideException

/** What a partition knows of itself, and formats that are refused; queries test all the rest. */
final class FrameStoreSuite extends AnyFunSuite with BeforeAndAfterAll {
  private val families = FrameFamilies(new StructType().add("key", IntegerType))
  private val keyOf = UnsafeProjection.create(families.keys)

  private def settings = {
    val conf = new SQLConf
    conf.setConf(SQLConf.STATE_STORE_PROVIDER_CLASS, FrameStoreSuite.RocksDb)
    conf
  }

  private val provider = families.provider(
    StateStoreId(Files.createTempDirectory("frames").toString, 0, 0),
    new StateStoreConf(settings),
    new Configuration
  )
  private var version = 0L

  override def afterAll(): Unit = provider.close()

  private def batch[A](work: (StateStore, FrameStore) => A): A = {
    val store = provider.getStore(version)
    try {
      val result = work(store, FrameStore.open(store, families, version))
      store.commit(): Unit
      version += 1
      result
    } catch {
      case error: Throwable =>
        store.abort()
        throw error
    }
  }

  private def save(frames: FrameStore, key: Int): Unit = {
    frames.open(keyOf(InternalRow(key))): Unit
    frames.save(nextDue = 7, boundary = 0, FrameRing.Never)(_.putByte(key))
  }

  test("keys are counted from batch to batch, saved again or dropped") {
    val counts = Seq(Seq(1, 2, 3), Seq(2, 4)).map { keys =>
      batch { (_, frames) =>
        keys.foreach(save(frames, _))
        frames.finish(4).keys
      }
    }
    val left = batch { (_, frames) =>
      assert(frames.open(keyOf(InternalRow(4))))
      frames.drop(): Unit
      frames.finish(5)
    }
    assert(counts == Seq(3, 4))
    assert(left == PartitionFacts(3, 7, FrameRing.Never, 5))
  }

  test("a partition that has keys and knows nothing of itself is of an old format") {
    batch { (store, frames) =>
      save(frames, 1)
      frames.finish(0): Unit
      val all = store.iterator(FrameFamilies.Partition).map(_.key.copy()).toList
      all.foreach(store.remove(_, FrameFamilies.Partition))
    }
    val error = intercept[EventtideException](batch((_, _) => ()))
    assert(error.condition == "STATE_VERSION")
    assert(error.getMessage.contains("has format version 1; this version of Eventtide reads 2"))
  }
}

private object FrameStoreSuite {
  private val RocksDb = "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"
}
