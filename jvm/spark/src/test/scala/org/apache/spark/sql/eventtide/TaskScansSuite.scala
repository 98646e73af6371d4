package org.apache.spark.sql.eventtide

import org.apache.spark.TaskContext
import org.apache.spark.sql.execution.streaming.state.{StateStoreIterator, UnsafeRowPair}
import org.scalatest.funsuite.AnyFunSuite

/** The end of a task, and of its scans. `FrameStoreSuite` has scans of RocksDB. */
final class TaskScansSuite extends AnyFunSuite {

  test("a scan is opened without a task, and closed once: by its reader or with the task") {
    var tasks = Seq.empty[TaskContext]
    var closed = Seq.empty[Int]
    def scan(n: Int): StateStoreIterator[UnsafeRowPair] = {
      tasks :+= TaskContext.get()
      new StateStoreIterator(Iterator.empty, () => closed :+= n)
    }
    InTask {
      val scans = new TaskScans
      Seq(1, 2, 3).map(n => scans.open(scan(n))).apply(1).close()
      assert(closed == Seq(2))
    }
    assert(closed.sorted == Seq(1, 2, 3))
    assert(tasks == Seq(null, null, null))
  }

  test("a scan that fails leaves the task as it was") {
    InTask {
      val task = TaskContext.get()
      val scans = new TaskScans
      intercept[IllegalStateException](scans.open(throw new IllegalStateException)): Unit
      assert(TaskContext.get() eq task)
    }
  }
}
